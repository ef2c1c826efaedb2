import type { Migration } from '../../../platform/database/migrate.ts';

const APPEND_ONLY = ['ledger_transactions', 'ledger_entries'];

export const ledgerTables: Migration = {
  name: '2026-11-16-ledger',
  up: ({ id, integer, text }, dialect) => [
    `create table ledger_accounts (
      id ${id},
      kind ${text} not null,
      user_id ${integer} not null, -- no key, stays: 0 where no user owns the account
      provider ${text} not null,
      game_id ${integer} not null, -- no key, stays: books outlive what they are about
      currency ${text} not null,
      balance ${integer} not null,
      entries ${integer} not null,
      date_added ${integer} not null,
      check (kind not in ('wallet', 'pending_earnings') or balance >= 0),
      check (kind not in ('deficit', 'issued_tokens') or balance <= 0)
    )`,
    'create unique index ledger_accounts_by_name on ledger_accounts (user_id, game_id, kind, currency, provider)',
    `create table ledger_transactions (
      id ${id},
      game_id ${integer} not null, -- no key, stays: books outlive what they are about
      sequence ${integer} not null,
      kind ${text} not null,
      operation ${text} not null,
      request_key ${text} not null,
      provider ${text} not null,
      provider_reference ${text} not null,
      user_id ${integer} not null, -- no key, stays: 0 for the service itself
      reverses_id ${integer} not null, -- no key: 0 for none
      date_added ${integer} not null,
      previous ${text} not null,
      hash ${text} not null
    )`,
    'create unique index ledger_transactions_by_sequence on ledger_transactions (game_id, sequence)',
    // A transaction is taken back at most once.
    'create unique index ledger_transactions_by_reversal on ledger_transactions (reverses_id) where reverses_id > 0',
    'create index ledger_transactions_by_user on ledger_transactions (user_id, id)',
    `create table ledger_entries (
      id ${id},
      transaction_id ${integer} not null references ledger_transactions (id),
      account_id ${integer} not null references ledger_accounts (id),
      amount ${integer} not null,
      balance_after ${integer} not null,
      check (amount <> 0)
    )`,
    'create index ledger_entries_by_account on ledger_entries (account_id, id)',
    'create index ledger_entries_by_transaction on ledger_entries (transaction_id, id)',
    `create table ledger_heads (
      game_id ${integer} not null primary key, -- no key, stays: books outlive what they are about
      sequence ${integer} not null,
      hash ${text} not null
    )`,
    ...(dialect === 'postgres' ? [REFUSE_CHANGE] : []),
    ...APPEND_ONLY.flatMap((table) => (dialect === 'postgres' ? [guardOnPostgres(table)] : guardsOnSqlite(table))),
  ],
};

const REFUSE_CHANGE = `create function ledger_is_append_only() returns trigger language plpgsql as
  $$ begin raise exception 'the ledger is append-only'; end $$`;

const guardOnPostgres = (table: string) =>
  `create trigger ${table}_append_only before update or delete on ${table}
    for each row execute function ledger_is_append_only()`;

const guardsOnSqlite = (table: string) =>
  ['update', 'delete'].map(
    (change) => `create trigger ${table}_no_${change} before ${change} on ${table}
      begin select raise(abort, 'the ledger is append-only'); end`,
  );
