import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { MAIL_CONFIRMATION } from './confirmation.ts';
import { mailConfirmation, removeExpiredReleases } from './releases.ts';

const HOUR = 3_600;

export const releaseJobs: readonly JobHandler<App>[] = [
  { kind: MAIL_CONFIRMATION, run: (app, { id }: { id: number }) => mailConfirmation(app, id) },
  { kind: 'releases.forget-outdated', byAge: true, every: HOUR, run: (app) => removeExpiredReleases(app) },
];
