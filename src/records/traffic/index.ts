import { contribute } from '../../platform/extensions.ts';
import { resource } from '../../platform/manifest/resource.ts';
import { left, OWN } from '../../platform/manifest/treatment.ts';
import { trafficObservers } from '../../platform/telemetry/traffic.ts';
import { trafficTables } from './migrations/2026-11-17-traffic.ts';
import { personalTraffic } from './personal.ts';
import { flushTraffic, forgetOldTraffic, recordTraffic } from './traffic.ts';

const HOUR = 3_600;

export const traffic = resource({
  name: 'traffic',
  migrations: [trafficTables],
  tables: {
    limited_requests: left(OWN),
    slow_requests: left(OWN),
  },
  jobs: [{ kind: 'traffic.forget', byAge: true, every: HOUR, run: forgetOldTraffic }],
  personalData: personalTraffic,
  finish: flushTraffic,
  extends: [contribute(trafficObservers, recordTraffic)],
});
