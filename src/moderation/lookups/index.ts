import { resource } from '../../platform/resource.ts';
import { lookupOperations } from './operations.ts';

export const lookups = resource({
  name: 'lookups',
  operations: lookupOperations,
});
