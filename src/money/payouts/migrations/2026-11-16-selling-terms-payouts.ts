import type { Migration } from '../../../platform/database/migrate.ts';

export const payoutsTables: Migration = {
  // After the books, whose transactions it names.
  name: '2026-11-16-selling-terms-payouts',
  up: ({ id, integer, text }) => [
    `create table payouts (
      id ${id},
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      currency ${text} not null,
      amount ${integer} not null check (amount > 0),
      fee ${integer} not null check (fee >= 0),
      requested ${integer} not null,
      provider ${text} not null,
      account ${text} not null,
      reference ${text} not null,
      attempt ${integer} not null,
      receipt ${text} not null,
      request_key ${text} not null,
      period ${text} not null,
      status ${text} not null,
      reason ${text} not null,
      transaction_id ${integer} not null references ledger_transactions (id),
      paid_id ${integer} not null, -- no key: 0 until it is paid
      date_added ${integer} not null,
      date_sent ${integer} not null,
      date_paid ${integer} not null,
      date_ended ${integer} not null,
      date_next ${integer} not null
    )`,
    'create unique index payouts_by_reference on payouts (provider, reference)',
    // A scheduled payout is made once a month.
    "create unique index payouts_by_period on payouts (user_id, game_id, currency, period) where period <> ''",
    'create index payouts_by_transaction on payouts (transaction_id)',
    'create index payouts_by_user on payouts (user_id, id)',
    'create index payouts_by_game on payouts (game_id, id)',
    'create index payouts_to_ask on payouts (date_next) where date_next > 0',
    "create index payouts_waiting on payouts (id) where status in ('requested', 'sent')",
    `create table payout_accounts (
      user_id ${integer} not null references users (id),
      provider ${text} not null,
      account ${text} not null,
      date_added ${integer} not null,
      primary key (user_id, provider)
    )`,
    `create table simulated_payouts (
      reference ${text} not null primary key,
      amount ${integer} not null,
      currency ${text} not null,
      outcome ${text} not null,
      date_due ${integer} not null,
      date_added ${integer} not null
    )`,
    "create index ledger_accounts_payable on ledger_accounts (id) where kind = 'earnings' and balance > 0",
  ],
};
