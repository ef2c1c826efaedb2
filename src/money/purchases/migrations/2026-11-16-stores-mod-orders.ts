import type { Migration } from '../../../platform/database/migrate.ts';

export const storeOrdersTable: Migration = {
  name: '2026-11-16-stores-mod-orders',
  up: ({ integer, text }) => [
    `create table store_orders (
      fulfilment_id ${integer} primary key references store_fulfilments (id),
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      mod_id ${integer} not null, -- no key, stays: the record of an order outlives the mod
      price ${integer} not null check (price > 0),
      subscribe ${integer} not null,
      status ${text} not null,
      purchase_id ${integer} not null, -- no key: 0 until it is bought
      date_added ${integer} not null
    )`,
    "create index store_orders_open on store_orders (mod_id, user_id) where status = 'open'",
    'create index store_orders_by_user on store_orders (user_id)',
    'create index store_orders_by_game on store_orders (game_id)',
    'create index store_orders_by_purchase on store_orders (purchase_id) where purchase_id > 0',
  ],
};
