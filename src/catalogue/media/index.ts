import { resource } from '../../platform/resource.ts';
import { mediaOperations } from './operations.ts';

export const media = resource({
  name: 'media',
  operations: mediaOperations,
});
