import type { Migration } from '../../../platform/database/migrate.ts';

export const tokenPackTables: Migration = {
  name: '2026-11-16-game-token-packs',
  up: ({ id, integer, text }) => [
    `create table token_packs (
      id ${id},
      game_id ${integer} not null references games (id),
      name ${text} not null,
      description ${text} not null,
      tokens ${integer} not null check (tokens > 0),
      price ${integer} not null check (price > 0),
      currency ${text} not null,
      date_added ${integer} not null,
      date_updated ${integer} not null,
      date_removed ${integer} not null default 0
    )`,
    'create index token_packs_by_game on token_packs (game_id, date_removed, id)',
    `create table token_pack_skus (
      id ${id},
      pack_id ${integer} not null references token_packs (id),
      game_id ${integer} not null references games (id),
      portal ${text} not null,
      sku ${text} not null
    )`,
    'create unique index token_pack_skus_by_pack on token_pack_skus (pack_id, portal)',
    "create unique index token_pack_skus_by_sku on token_pack_skus (game_id, portal, sku) where portal <> ''",
  ],
};
