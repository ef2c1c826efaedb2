import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { mailCodeLater } from '../../platform/mail/code-mails.ts';
import { forgetOutdatedCodes } from './signing-in.ts';

const HOUR = 3_600;

export const mailedCodeJobs: readonly JobHandler<App>[] = [
  { kind: 'mailed-codes.forget-outdated', byAge: true, every: HOUR, run: (app) => forgetOutdatedCodes(app) },
  mailCodeLater,
];
