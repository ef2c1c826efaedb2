import type { Migration } from '../../../platform/database/migrate.ts';

export const paymentsTable: Migration = {
  name: '2026-11-16-payments',
  up: ({ id, integer, text }) => [
    `create table payments (
      id ${id},
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      pack_id ${integer} not null references token_packs (id),
      terms_id ${integer} not null, -- no key: 0 for the defaults
      tokens ${integer} not null,
      price ${integer} not null,
      tax ${integer} not null,
      currency ${text} not null,
      provider ${text} not null,
      reference ${text} not null,
      url ${text} not null,
      request_key ${text} not null,
      status ${text} not null,
      transaction_id ${integer} not null, -- no key: 0 until it is paid
      date_added ${integer} not null,
      date_paid ${integer} not null,
      date_ended ${integer} not null
    )`,
    'create unique index payments_by_reference on payments (provider, reference)',
    'create index payments_by_user on payments (user_id, id)',
    'create index payments_by_request on payments (user_id, game_id, request_key, date_added)',
    "create index payments_pending on payments (id) where status = 'pending'",
  ],
};
