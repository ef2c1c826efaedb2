import { resource } from '../../platform/manifest/resource.ts';
import { CREDENTIAL, content, KEYED, left, SHORT_LIVED } from '../../platform/manifest/treatment.ts';
import { metricsJobs } from './jobs.ts';
import { metricsChangesTable } from './migrations/2026-11-16-metrics-changes.ts';
import { metricsModDaysTable } from './migrations/2026-11-16-metrics-mod-days.ts';
import { personalMetrics } from './personal.ts';

export const metrics = resource({
  name: 'metrics',
  jobs: metricsJobs,
  migrations: [metricsChangesTable, metricsModDaysTable],
  tables: {
    metrics_days: content(),
    metrics_months: content(),
    metrics_mod_days: content(),
    metrics_mod_months: content(),
    metrics_creator_months: content(),
    metrics_platform_days: content(),
    metrics_platform_months: content(),
    metrics_platform_mod_months: content(),
    metrics_platform_creator_months: content(),
    metrics_changes: left('counts of the last seconds, with digests of people'),
    metrics_active: left(KEYED),
    metrics_active_months: left(KEYED),
    metrics_platform_active: left(KEYED),
    metrics_platform_active_months: left(KEYED),
    metrics_seen: left(KEYED),
    metrics_sessions: left(SHORT_LIVED),
    metrics_secrets: left(CREDENTIAL),
  },
  personalData: personalMetrics,
});
