import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { service } from '../../platform/manifest/treatment.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { CLEAR_JOB, clearDue } from './clearing.ts';
import { checkEarnings } from './earnings.ts';
import { earningsTable } from './migrations/2026-11-16-selling-terms-earnings.ts';
import { earningOperations } from './operations.ts';
import { personalEarnings } from './personal.ts';

const MINUTE = 60;

export const earnings = resource({
  name: 'earnings',
  operations: earningOperations,
  migrations: [earningsTable],
  tables: {
    earnings: service({ refers: { terms_id: 'selling_terms', cleared_id: 'ledger_transactions' } }),
  },
  jobs: [{ kind: CLEAR_JOB, byAge: true, every: MINUTE, run: (app, _, { heartbeat }) => clearDue(app, heartbeat) }],
  personalData: personalEarnings,
  extends: [contribute(ledgerChecks, { name: 'earnings', check: checkEarnings })],
});
