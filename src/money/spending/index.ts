import { resource } from '../../platform/manifest/resource.ts';
import { forgetSpending, JUDGE_CLAWBACKS, judgeClawbacks } from './clawbacks.ts';
import { spendingTables } from './migrations/2026-11-16-spending.ts';
import { paymentAttempts } from './migrations/2026-11-17-payment-attempts.ts';
import { personalSpending } from './personal.ts';

const HOUR = 3_600;

/** Rules against stolen accounts and fraud. */
export const spending = resource({
  name: 'spending',
  migrations: [spendingTables, paymentAttempts],
  jobs: [
    { kind: JUDGE_CLAWBACKS, run: judgeClawbacks },
    { kind: 'spending.forget', byAge: true, every: HOUR, run: forgetSpending },
  ],
  personalData: personalSpending,
});
