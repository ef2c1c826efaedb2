import { resource } from '../../platform/manifest/resource.ts';
import { lookupOperations } from './operations.ts';

export const lookups = resource({
  name: 'lookups',
  operations: lookupOperations,
});
