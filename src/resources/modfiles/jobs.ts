import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { REMOVE_UNUSED_FILE, removeUnusedBytes } from './bytes.ts';

export const modfileJobs: readonly JobHandler<App>[] = [
  {
    kind: REMOVE_UNUSED_FILE,
    run: (app, { key }: { key: string }, job) => removeUnusedBytes(app, key, () => job.heartbeat()),
  },
];
