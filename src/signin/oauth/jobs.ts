import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetOutdatedGrants } from './grants.ts';

const HOUR = 3_600;

export const oauthJobs: readonly JobHandler<App>[] = [
  { kind: 'oauth.forget-outdated', byAge: true, every: HOUR, run: (app) => forgetOutdatedGrants(app) },
];
