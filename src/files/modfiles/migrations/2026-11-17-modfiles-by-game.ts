import type { Migration } from '../../../platform/database/migrate.ts';

/**
 * For the storage that a game uses. No other statement says `status < 3`: SQLite would prefer the index to those of
 * digests, although most files can be of one game.
 */
export const modfilesByGame: Migration = {
  name: '2026-11-17-modfiles-by-game',
  up: () => ['create index modfiles_by_game on modfiles (game_id, status, filesize) where status < 3'],
};
