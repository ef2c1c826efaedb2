import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { forgetOutdated } from './accounts.ts';
import { MOVE_JOB, moveAccount } from './merging.ts';

const HOUR = 3_600;

export const accountJobs: readonly JobHandler<App>[] = [
  { kind: 'accounts.forget-outdated', every: HOUR, run: (app) => forgetOutdated(app) },
  {
    kind: MOVE_JOB,
    run: (app, payload) => {
      const { from, to } = payload as { from: number; to: number };
      return moveAccount(app, from, to);
    },
  },
];
