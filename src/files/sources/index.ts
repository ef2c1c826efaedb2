import { resource } from '../../platform/manifest/resource.ts';
import { sourceOperations } from './operations.ts';

export const sources = resource({
  name: 'sources',
  operations: sourceOperations,
});
