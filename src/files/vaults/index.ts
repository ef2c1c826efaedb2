import { resource } from '../../platform/manifest/resource.ts';
import { modExtension } from './mod-extension.ts';
import { vaultOperations } from './operations.ts';

export const vaults = resource({
  name: 'vaults',
  operations: vaultOperations,
  extends: [modExtension],
});
