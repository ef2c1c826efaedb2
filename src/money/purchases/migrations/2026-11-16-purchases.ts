import type { Migration } from '../../../platform/database/migrate.ts';

export const purchasesTables: Migration = {
  name: '2026-11-16-purchases',
  up: ({ id, integer, text }) => [
    `create table purchases (
      id ${id},
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      mod_id ${integer} not null, -- no key, stays: the record of a sale outlives the mod
      terms_id ${integer} not null, -- no key: 0 for the defaults
      price ${integer} not null check (price > 0),
      fee ${integer} not null,
      gateway_uuid ${text} not null,
      status ${text} not null,
      transaction_id ${integer} not null references ledger_transactions (id),
      date_added ${integer} not null,
      date_refunded ${integer} not null
    )`,
    // Nobody owns a mod twice.
    "create unique index purchases_by_owner on purchases (user_id, mod_id) where status = 'paid'",
    'create index purchases_by_transaction on purchases (transaction_id)',
    'create index purchases_by_mod on purchases (mod_id, status)',
    'create index purchases_by_user on purchases (user_id, id)',
    `create table idempotent_requests (
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      operation ${text} not null,
      request_key ${text} not null,
      digest ${text} not null,
      response ${text} not null,
      mod_id ${integer} not null, -- no key, stays: a day later the row is gone
      date_added ${integer} not null,
      primary key (user_id, game_id, operation, request_key)
    )`,
    'create index idempotent_requests_by_date on idempotent_requests (date_added)',
  ],
};
