import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { CHANGED_MAIL_JOB, mailChanged } from './email-change.ts';
import { MERGED_MAIL_JOB, mailMerged } from './merging.ts';
import { SETTLE_JOB, settleAccount } from './settling.ts';
import { forgetOutdatedTokens } from './tokens.ts';

const HOUR = 3_600;

export const accountJobs: readonly JobHandler<App>[] = [
  { kind: 'accounts.forget-outdated', byAge: true, every: HOUR, run: (app) => forgetOutdatedTokens(app) },
  { kind: CHANGED_MAIL_JOB, run: mailChanged },
  { kind: MERGED_MAIL_JOB, run: mailMerged },
  {
    kind: SETTLE_JOB,
    run: (app, { userId }: { userId: number }, { heartbeat }) => settleAccount(app, userId, heartbeat),
  },
];
