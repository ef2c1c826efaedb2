import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { left, SHORT_LIVED, SIMULATED, service } from '../../platform/manifest/treatment.ts';
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
  tables: {
    store_fulfilments: service({ refers: { transaction_id: 'ledger_transactions' }, secret: { session: '' } }),
    store_notifications: left(SHORT_LIVED),
    store_settings: left('settings with secrets of a store; they are entered again'),
    simulated_purchases: left(SIMULATED),
  },
  jobs: storeJobs,
  personalData: personalStores,
  extends: [contribute(ledgerChecks, { name: 'stores', check: checkFulfilments })],
});
