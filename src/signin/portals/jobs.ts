import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { forgetOutdated } from './accounts.ts';
import { CONFIRMATION_MAIL_JOB, mailWantedConfirmation } from './email-confirmation.ts';

const HOUR = 3_600;

export const portalJobs: readonly JobHandler<App>[] = [
  { kind: 'portals.forget-outdated', byAge: true, every: HOUR, run: (app) => forgetOutdated(app) },
  { kind: CONFIRMATION_MAIL_JOB, run: mailWantedConfirmation },
];
