import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { INSPECT, inspectBuild, removeOldBuilds } from './receiving.ts';
import { SCAN, scanBuild, scanWaitingBuilds } from './scans.ts';
import { MAIL_THREAT, mailThreat, type ThreatMail } from './threat-mails.ts';

const HOUR = 3_600;

export const buildJobs: readonly JobHandler<App>[] = [
  { kind: INSPECT, run: (app, { uuid }: { uuid: string }, job) => inspectBuild(app, uuid, () => job.heartbeat()) },
  {
    kind: 'cook-builds.remove-old',
    byAge: true,
    every: HOUR,
    run: (app, _, job) => removeOldBuilds(app, () => job.heartbeat()),
  },
  { kind: SCAN, run: (app, { uuid }: { uuid: string }, job) => scanBuild(app, uuid, job) },
  { kind: 'cook-builds.scan-waiting', every: HOUR, run: (app) => scanWaitingBuilds(app) },
  { kind: MAIL_THREAT, run: (app, mail: ThreatMail) => mailThreat(app, mail) },
];
