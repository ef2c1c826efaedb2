import type { Migration } from '../../database/migrate.ts';

export const jobsScheduledOnce: Migration = {
  name: '2026-11-16-jobs-scheduled-once',
  up: () => [
    `delete from jobs where key = 'schedule' and state = 'waiting' and exists (select 1 from jobs as other
      where other.kind = jobs.kind and other.key = 'schedule' and other.state = 'running')`,
    `delete from jobs where key = 'schedule' and state = 'running' and exists (select 1 from jobs as other
      where other.kind = jobs.kind and other.key = 'schedule' and other.state = 'running' and other.id < jobs.id)`,
    "create unique index jobs_scheduled_once on jobs (kind) where key = 'schedule' and state <> 'parked'",
  ],
};
