import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
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
  jobs: paymentJobs,
  personalData: personalPayments,
  extends: [contribute(ledgerChecks, { name: 'payments', check: checkPayments })],
});
