import type { Migration } from '../../../platform/database/migrate.ts';

/** The dashboard shows deleted mods, the last one first. */
export const modsDeletedByUpdate: Migration = {
  name: '2026-11-17-mods-deleted-by-update',
  indexes: () => ['create index mods_deleted_by_game_and_update on mods (game_id, date_updated, id) where status = 3'],
  up: () => [],
};
