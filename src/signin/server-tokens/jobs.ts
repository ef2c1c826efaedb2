import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetEndedServerTokens } from './server-tokens.ts';

const HOUR = 3_600;

export const serverTokenJobs: readonly JobHandler<App>[] = [
  { kind: 'server-tokens.forget-outdated', every: HOUR, run: (app) => forgetEndedServerTokens(app) },
];
