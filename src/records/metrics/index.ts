import { resource } from '../../platform/manifest/resource.ts';
import { metricsJobs } from './jobs.ts';
import { metricsChangesTable } from './migrations/2026-11-16-metrics-changes.ts';
import { metricsModDaysTable } from './migrations/2026-11-16-metrics-mod-days.ts';
import { personalMetrics } from './personal.ts';

export const metrics = resource({
  name: 'metrics',
  jobs: metricsJobs,
  migrations: [metricsChangesTable, metricsModDaysTable],
  personalData: personalMetrics,
});
