import { resource } from '../../platform/manifest/resource.ts';
import { left, OWN, service } from '../../platform/manifest/treatment.ts';
import { ledgerJobs } from './checks.ts';
import { ledgerTables } from './migrations/2026-11-16-ledger.ts';
import { ledgerPeriods } from './migrations/2026-11-16-ledger-periods.ts';
import { ledgerSellerSides } from './migrations/2026-11-16-ledger-seller-sides.ts';
import { ledgerLists } from './migrations/2026-11-17-ledger-lists.ts';
import { ledgerOperations } from './operations.ts';
import { personalLedger } from './personal.ts';

export const ledger = resource({
  name: 'ledger',
  operations: ledgerOperations,
  migrations: [ledgerTables, ledgerSellerSides, ledgerPeriods, ledgerLists],
  tables: {
    ledger_accounts: service(),
    ledger_transactions: service({ refers: { reverses_id: 'ledger_transactions' } }),
    ledger_entries: service(),
    ledger_heads: service(),
    ledger_checks: left(OWN),
  },
  jobs: ledgerJobs,
  personalData: personalLedger,
});
