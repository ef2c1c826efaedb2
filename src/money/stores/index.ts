import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { checkFulfilments } from './crediting.ts';
import { storeJobs } from './jobs.ts';
import { storesTables } from './migrations/2026-11-16-stores.ts';
import { storeOperations } from './operations.ts';
import { personalStores } from './personal.ts';

export const stores = resource({
  name: 'stores',
  operations: storeOperations,
  migrations: [storesTables],
  jobs: storeJobs,
  personalData: personalStores,
  extends: [contribute(ledgerChecks, { name: 'stores', check: checkFulfilments })],
});
