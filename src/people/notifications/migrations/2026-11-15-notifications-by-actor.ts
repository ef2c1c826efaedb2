import type { Migration } from '../../../platform/database/migrate.ts';

/** By whom: what a person has done is looked up when their account ends. */
export const migration: Migration = {
  name: '2026-11-15-notifications-by-actor',
  up: () => ['create index notifications_by_actor on notifications (actor_id)'],
};
