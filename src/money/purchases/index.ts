import { resource } from '../../platform/resource.ts';
import { purchaseOperations } from './operations.ts';

export const purchases = resource({
  name: 'purchases',
  operations: purchaseOperations,
});
