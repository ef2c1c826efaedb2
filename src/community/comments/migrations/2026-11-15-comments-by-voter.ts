import type { Migration } from '../../../platform/database/migrate.ts';

/** By whom: what a person has done is looked up when their account ends. */
export const migration: Migration = {
  name: '2026-11-15-comments-by-voter',
  up: () => ['create index comment_votes_by_user on comment_votes (user_id, comment_id)'],
};
