import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeEndedBans } from './bans.ts';

const DAY = 86_400;

export const banJobs: readonly JobHandler<App>[] = [
  { kind: 'bans.forget-ended', byAge: true, every: DAY, run: (app) => removeEndedBans(app) },
];
