import { resource } from '../../platform/manifest/resource.ts';
import { content } from '../../platform/manifest/treatment.ts';
import { modExtension } from './mod-extension.ts';
import { vaultOperations } from './operations.ts';

export const vaults = resource({
  name: 'vaults',
  operations: vaultOperations,
  tables: {
    mod_vaults: content(),
  },
  extends: [modExtension],
});
