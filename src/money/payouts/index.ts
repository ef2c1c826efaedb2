import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { left, SIMULATED, service } from '../../platform/manifest/treatment.ts';
import { ledgerChecks } from '../ledger/verification.ts';
import { payoutsTables } from './migrations/2026-11-16-selling-terms-payouts.ts';
import { earningsAccounts } from './migrations/2026-11-17-earnings-accounts.ts';
import { payoutOperations } from './operations.ts';
import { checkPayouts } from './payouts.ts';
import { personalPayouts } from './personal.ts';
import { schedulePayouts } from './schedule.ts';
import { settlePayouts } from './settling.ts';

const MINUTE = 60;
const HOUR = 3_600;

export const payouts = resource({
  name: 'payouts',
  operations: payoutOperations,
  migrations: [payoutsTables, earningsAccounts],
  tables: {
    payouts: service({ refers: { paid_id: 'ledger_transactions' } }),
    payout_accounts: left('accounts at a payment provider, which are bound to this service'),
    simulated_payouts: left(SIMULATED),
  },
  jobs: [
    {
      kind: 'payouts.schedule',
      byAge: true,
      every: HOUR,
      run: (app, _, { heartbeat }) => schedulePayouts(app, heartbeat),
    },
    { kind: 'payouts.settle', every: MINUTE, run: (app, _, { heartbeat }) => settlePayouts(app, heartbeat) },
  ],
  personalData: personalPayouts,
  extends: [contribute(ledgerChecks, { name: 'payouts', check: checkPayouts })],
});
