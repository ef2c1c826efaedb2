import type { Migration } from '../../../platform/database/migrate.ts';

/** By whom: what a person has done is looked up when their account ends. */
export const migration: Migration = {
  name: '2026-11-15-collections-by-rater',
  up: () => ['create index collection_ratings_by_user on collection_ratings (user_id, collection_id)'],
};
