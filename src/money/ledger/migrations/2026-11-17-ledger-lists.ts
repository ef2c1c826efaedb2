import type { Migration } from '../../../platform/database/migrate.ts';

export const ledgerLists: Migration = {
  name: '2026-11-17-ledger-lists',
  indexes: () => ['create index ledger_transactions_by_kind on ledger_transactions (kind, game_id, id)'],
  up: ({ id, integer, text }) => [
    `create table ledger_checks (
      id ${id},
      user_id ${integer} not null, -- no key, stays: 0 for an account that has ended
      state ${text} not null,
      transactions ${integer} not null,
      entries ${integer} not null,
      accounts ${integer} not null,
      problems ${text} not null,
      date_added ${integer} not null,
      date_ended ${integer} not null
    )`,
  ],
};
