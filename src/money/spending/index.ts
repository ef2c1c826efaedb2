import { resource } from '../../platform/manifest/resource.ts';
import { left, SHORT_LIVED, service } from '../../platform/manifest/treatment.ts';
import { forgetSpending, JUDGE_CLAWBACKS, judgeClawbacks } from './clawbacks.ts';
import { spendingTables } from './migrations/2026-11-16-spending.ts';
import { paymentAttempts } from './migrations/2026-11-17-payment-attempts.ts';
import { personalSpending } from './personal.ts';

const HOUR = 3_600;

/** Rules against stolen accounts and fraud. */
export const spending = resource({
  name: 'spending',
  migrations: [spendingTables, paymentAttempts],
  tables: {
    clawbacks: service({ refers: { transaction_id: 's2s_transactions' } }),
    payment_attempts: left(SHORT_LIVED),
    spending: service({ refers: { purchase_id: 'purchases' }, secret: { address: '' } }),
    spending_refusals: service(),
  },
  jobs: [
    { kind: JUDGE_CLAWBACKS, run: judgeClawbacks },
    { kind: 'spending.forget', byAge: true, every: HOUR, run: forgetSpending },
  ],
  personalData: personalSpending,
});
