import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { s2sTransactionsTable } from './migrations/2026-11-16-s2s-transactions.ts';
import { transactionOperations } from './operations.ts';
import { personalTransactions } from './personal.ts';
import { checkTransactions, expireIntents } from './transactions.ts';

const HOUR = 3_600;

export const transactions = resource({
  name: 'transactions',
  operations: transactionOperations,
  migrations: [s2sTransactionsTable],
  tables: {
    s2s_transactions: service({
      refers: { terms_id: 'selling_terms', transaction_id: 'ledger_transactions', purchase_id: 'purchases' },
      secret: { client_id: 0 },
    }),
  },
  jobs: [{ kind: 'transactions.expire', byAge: true, every: HOUR, run: expireIntents }],
  personalData: personalTransactions,
  extends: [contribute(ledgerChecks, { name: 'transactions', check: checkTransactions })],
});
