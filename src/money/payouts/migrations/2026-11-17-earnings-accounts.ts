import type { Migration } from '../../../platform/database/migrate.ts';

/**
 * An index whose condition names the balance makes PostgreSQL write every index of the table, and leave a dead row in each,
 * whenever a balance changes.
 */
export const earningsAccounts: Migration = {
  name: '2026-11-17-earnings-accounts',
  indexes: () => ["create index ledger_accounts_of_earnings on ledger_accounts (id) where kind = 'earnings'"],
  up: () => ['drop index ledger_accounts_payable'],
};
