import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { paymentJobs } from './jobs.ts';
import { paymentsTable } from './migrations/2026-11-16-payments.ts';
import { paymentOperations } from './operations.ts';
import { checkPayments } from './payments.ts';
import { personalPayments } from './personal.ts';

export const payments = resource({
  name: 'payments',
  operations: paymentOperations,
  migrations: [paymentsTable],
  tables: {
    payments: service({ refers: { terms_id: 'selling_terms', transaction_id: 'ledger_transactions' } }),
  },
  jobs: paymentJobs,
  personalData: personalPayments,
  extends: [contribute(ledgerChecks, { name: 'payments', check: checkPayments })],
});
