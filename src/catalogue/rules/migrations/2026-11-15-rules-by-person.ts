import type { Migration } from '../../../platform/database/migrate.ts';

/** All that is counted of someone's last submissions stands in the index. */
export const migration: Migration = {
  name: '2026-11-15-rules-by-person',
  up: () => [
    'create index rule_decisions_by_person on rule_decisions (game_id, user_id, date_added, verdict, digest)',
    'drop index rule_decisions_by_user',
  ],
};
