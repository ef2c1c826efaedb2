import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { tokenPackTables } from './migrations/2026-11-16-game-token-packs.ts';
import { packOperations } from './operations.ts';

export const packs = resource({
  name: 'packs',
  operations: packOperations,
  migrations: [tokenPackTables],
  tables: {
    token_packs: service(),
    token_pack_skus: service(),
  },
});
