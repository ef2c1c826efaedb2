import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { INSPECT, inspectBuild, removeOldBuilds } from './receiving.ts';

const HOUR = 3_600;

export const buildJobs: readonly JobHandler<App>[] = [
  { kind: INSPECT, run: (app, { uuid }: { uuid: string }, job) => inspectBuild(app, uuid, () => job.heartbeat()) },
  { kind: 'cook-builds.remove-old', every: HOUR, run: (app, _, job) => removeOldBuilds(app, () => job.heartbeat()) },
];
