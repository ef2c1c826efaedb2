import type { Migration } from '../../../platform/database/migrate.ts';

export const modOrdersTable: Migration = {
  name: '2026-11-16-purchases-mod-orders',
  up: ({ integer, text }) => [
    `create table mod_orders (
      payment_id ${integer} primary key references payments (id),
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      mod_id ${integer} not null, -- no key, stays: the record of an order outlives the mod
      price ${integer} not null check (price > 0),
      subscribe ${integer} not null,
      status ${text} not null,
      purchase_id ${integer} not null, -- no key: 0 until it is bought
      date_added ${integer} not null
    )`,
    "create index mod_orders_open on mod_orders (mod_id, user_id) where status = 'open'",
    'create index mod_orders_by_user on mod_orders (user_id)',
    'create index mod_orders_by_purchase on mod_orders (purchase_id) where purchase_id > 0',
  ],
};
