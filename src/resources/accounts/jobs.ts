import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { forgetOutdated } from './accounts.ts';
import { ERASE_JOB, eraseAccount } from './closing.ts';
import { CHANGED_MAIL_JOB, mailChanged } from './email-change.ts';
import { MOVE_JOB, moveAccount } from './merging.ts';

const HOUR = 3_600;

export const accountJobs: readonly JobHandler<App>[] = [
  { kind: 'accounts.forget-outdated', every: HOUR, run: (app) => forgetOutdated(app) },
  { kind: CHANGED_MAIL_JOB, run: mailChanged },
  {
    kind: ERASE_JOB,
    run: (app, { userId }: { userId: number }, { heartbeat }) => eraseAccount(app, userId, heartbeat),
  },
  {
    kind: MOVE_JOB,
    run: (app, { from, to }: { from: number; to: number }, { heartbeat }) => moveAccount(app, from, to, heartbeat),
  },
];
