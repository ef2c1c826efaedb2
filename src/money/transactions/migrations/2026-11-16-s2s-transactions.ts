import type { Migration } from '../../../platform/database/migrate.ts';

export const s2sTransactionsTable: Migration = {
  name: '2026-11-16-s2s-transactions',
  up: ({ id, integer, text }) => [
    `create table s2s_transactions (
      id ${id},
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      client_id ${integer} not null, -- no key, stays: the record of a sale outlives the client
      portal ${text} not null,
      sku ${text} not null,
      pack_id ${integer} not null references token_packs (id),
      mod_id ${integer} not null, -- no key, stays: the record of a sale outlives the mod
      mod_price ${integer} not null,
      terms_id ${integer} not null, -- no key: 0 for the defaults
      tokens ${integer} not null check (tokens > 0),
      price ${integer} not null,
      tax ${integer} not null,
      currency ${text} not null,
      provider ${text} not null,
      gateway_uuid ${text} not null,
      clawback_uuid ${text} not null,
      reason ${text} not null,
      status ${text} not null,
      transaction_id ${integer} not null, -- no key: 0 until it is committed
      purchase_id ${integer} not null, -- no key: 0 for none
      date_added ${integer} not null,
      date_paid ${integer} not null,
      date_clears ${integer} not null,
      date_ended ${integer} not null
    )`,
    // A sale of a store counts once. One that was abandoned can be begun again.
    `create unique index s2s_transactions_by_gateway on s2s_transactions (game_id, portal, gateway_uuid)
      where status in ('pending', 'paid', 'refunded')`,
    'create index s2s_transactions_of_gateway on s2s_transactions (game_id, gateway_uuid, id)',
    'create index s2s_transactions_by_game on s2s_transactions (game_id, id)',
    'create index s2s_transactions_by_user on s2s_transactions (user_id, id)',
    "create index s2s_transactions_pending on s2s_transactions (id) where status = 'pending'",
  ],
};
