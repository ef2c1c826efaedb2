import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeCommentsOf } from './comments.ts';
import { REMOVE_COMMENTS } from './removal.ts';

export const commentJobs: readonly JobHandler<App>[] = [
  {
    kind: REMOVE_COMMENTS,
    run: (app, payload, job) =>
      removeCommentsOf(app, payload as { resource: string; id: number }, () => job.heartbeat()),
  },
];
