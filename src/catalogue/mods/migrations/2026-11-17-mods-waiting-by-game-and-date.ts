import type { Migration } from '../../../platform/database/migrate.ts';

/** The queue of a game is shown by date, and its first page must not read all that waits. Counts read the index alone. */
export const modsWaitingByGameAndDate: Migration = {
  name: '2026-11-17-mods-waiting-by-game-and-date',
  up: () => ['create index mods_waiting_by_game_and_date on mods (game_id, date_added, id, status) where status = 0'],
};
