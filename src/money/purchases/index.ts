import { resource } from '../../platform/manifest/resource.ts';
import { purchaseOperations } from './operations.ts';

export const purchases = resource({
  name: 'purchases',
  operations: purchaseOperations,
});
