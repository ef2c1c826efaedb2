import type { Migration } from '../../../platform/database/migrate.ts';

/** Statements read what a game posted since a day, and the accounts of a game. */
export const ledgerPeriods: Migration = {
  name: '2026-11-16-ledger-periods',
  up: () => [
    'create index ledger_transactions_by_date on ledger_transactions (game_id, date_added)',
    'create index ledger_accounts_by_game on ledger_accounts (game_id, kind, user_id)',
  ],
};
