import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { finishRename, REFRESH_MODS, RENAME_TAG, refreshMods } from './refreshing.ts';

export const tagJobs: readonly JobHandler<App>[] = [
  {
    kind: RENAME_TAG,
    run: (app, { gameId }: { gameId: number }, job) => finishRename(app, gameId, () => job.heartbeat()),
  },
  {
    kind: REFRESH_MODS,
    run: (app, { tagIds }: { tagIds: number[] }, job) => refreshMods(app, tagIds, () => job.heartbeat()),
  },
];
