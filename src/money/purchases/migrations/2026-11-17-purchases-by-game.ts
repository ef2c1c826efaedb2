import type { Migration } from '../../../platform/database/migrate.ts';

export const purchasesByGame: Migration = {
  name: '2026-11-17-purchases-by-game',
  indexes: () => ['create index purchases_by_game on purchases (game_id, id)'],
  up: () => [],
};
