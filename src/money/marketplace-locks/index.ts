import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { marketplaceLocksTable } from './migrations/2026-11-16-marketplace-locks.ts';
import { marketplaceLockOperations } from './operations.ts';
import { personalMarketplaceLocks } from './personal.ts';

export const marketplaceLocks = resource({
  name: 'marketplace-locks',
  operations: marketplaceLockOperations,
  migrations: [marketplaceLocksTable],
  tables: {
    marketplace_locks: service({ notOfGames: true }),
  },
  personalData: personalMarketplaceLocks,
});
