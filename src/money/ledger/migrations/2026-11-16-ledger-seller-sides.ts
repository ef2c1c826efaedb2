import type { Migration } from '../../../platform/database/migrate.ts';

const CREDITS = "('earnings', 'payouts_in_transit')";

/** The accounts of sellers in money obey their side in the database, too. SQLite cannot add a check to a table. */
export const ledgerSellerSides: Migration = {
  name: '2026-11-16-ledger-seller-sides',
  up: (_, dialect) =>
    dialect === 'postgres'
      ? [
          `alter table ledger_accounts
            add check (kind not in ${CREDITS} or balance >= 0), add check (kind <> 'earnings_deficit' or balance <= 0)`,
        ]
      : [
          `create trigger ledger_accounts_seller_sides before update of balance on ledger_accounts
            when (new.kind in ${CREDITS} and new.balance < 0) or (new.kind = 'earnings_deficit' and new.balance > 0)
            begin select raise(abort, 'a balance is on the wrong side'); end`,
        ],
};
