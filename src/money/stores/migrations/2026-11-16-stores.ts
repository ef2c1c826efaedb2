import type { Migration } from '../../../platform/database/migrate.ts';

export const storesTables: Migration = {
  name: '2026-11-16-stores',
  up: ({ id, integer, text, clustered }) => [
    `create table store_settings (
      game_id ${integer} not null references games (id),
      portal ${text} not null,
      store_app ${text} not null,
      fields ${text} not null,
      secrets ${text} not null,
      date_updated ${integer} not null,
      primary key (game_id, portal)
    )`,
    'create index store_settings_by_app on store_settings (portal, store_app)',
    `create table store_fulfilments (
      id ${id},
      portal ${text} not null,
      reference ${text} not null,
      game_id ${integer} not null references games (id),
      user_id ${integer} not null references users (id),
      pack_id ${integer} not null references token_packs (id),
      sku ${text} not null,
      quantity ${integer} not null,
      tokens ${integer} not null,
      transaction_id ${integer} not null, -- no key: 0 until it is fulfilled
      state ${text} not null,
      attempt_key ${text} not null,
      tries ${integer} not null,
      handle ${text} not null,
      session ${text} not null,
      date_added ${integer} not null,
      date_tried ${integer} not null,
      date_due ${integer} not null,
      date_settled ${integer} not null,
      unique (portal, reference)
    )`,
    'create index store_fulfilments_by_user on store_fulfilments (user_id, game_id, portal)',
    "create index store_fulfilments_pending on store_fulfilments (date_due) where state = 'pending'",
    'create index store_fulfilments_by_game on store_fulfilments (game_id)',
    'create index store_fulfilments_by_pack on store_fulfilments (pack_id)',
    `create table store_notifications (
      portal ${text} not null,
      message ${text} not null,
      date_added ${integer} not null,
      primary key (portal, message)
    )${clustered}`,
    `create table simulated_purchases (
      id ${id},
      game_id ${integer} not null references games (id),
      portal ${text} not null,
      user_id ${integer} not null references users (id),
      sku ${text} not null,
      quantity ${integer} not null,
      state ${text} not null,
      fault ${text} not null,
      consumption_key ${text} not null,
      date_added ${integer} not null
    )`,
    'create index simulated_purchases_by_user on simulated_purchases (user_id, game_id, portal)',
    'create index simulated_purchases_by_game on simulated_purchases (game_id)',
  ],
};
