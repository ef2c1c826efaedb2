import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { REMOVE_UNUSED_FILE, removeUnusedBytes } from './bytes.ts';
import { MAIL_RELEASE, mailRelease, type ReleaseMail } from './release-mails.ts';
import { type Pass, SCAN, SCAN_MANY, scanBytes, scanMany, scanWaiting } from './scans.ts';
import { MAIL_THREAT, mailThreat, type ThreatMail } from './threat-mails.ts';

const HOUR = 3_600;

export const modfileJobs: readonly JobHandler<App>[] = [
  {
    kind: REMOVE_UNUSED_FILE,
    byAge: true,
    run: (app, { key }: { key: string }, job) => removeUnusedBytes(app, key, () => job.heartbeat()),
  },
  { kind: SCAN, run: (app, { key }: { key: string }, job) => scanBytes(app, key, job) },
  { kind: SCAN_MANY, run: (app, pass: Pass) => scanMany(app, pass) },
  { kind: 'modfiles.scan-waiting', every: HOUR, run: (app, _, job) => scanWaiting(app, job) },
  { kind: MAIL_RELEASE, run: (app, notice: ReleaseMail) => mailRelease(app, notice) },
  { kind: MAIL_THREAT, run: (app, mail: ThreatMail) => mailThreat(app, mail) },
];
