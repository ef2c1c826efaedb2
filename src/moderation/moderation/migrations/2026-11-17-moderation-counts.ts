import type { Migration } from '../../../platform/database/migrate.ts';

/**
 * The queue asks of every pending item whether it was denied or appealed, and most were neither. Statistics count the
 * decisions of each moderator.
 */
export const moderationCounts: Migration = {
  name: '2026-11-17-moderation-counts',
  indexes: () => [
    `create index moderation_denials on moderation_decisions (resource, resource_id, id)
      where action = 'deny' and date_appealed = 0`,
    'create index moderation_appeals on moderation_decisions (resource, resource_id, id) where date_appealed > 0',
    'create index moderation_decisions_by_moderator on moderation_decisions (game_id, user_id, date_added)',
  ],
  up: () => [],
};
