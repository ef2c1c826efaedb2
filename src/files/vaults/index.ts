import { resource } from '../../platform/resource.ts';
import { vaultOperations } from './operations.ts';

export const vaults = resource({
  name: 'vaults',
  operations: vaultOperations,
});
