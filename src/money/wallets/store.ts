import { BatchedReads } from '../../platform/database/batched-reads.ts';
import { type Database, idsIn, statement } from '../../platform/database/database.ts';

/** A user in a game, with what decides whether they see their wallet. */
export interface WalletRow {
  /** Of the user. */
  readonly id: number;
  readonly game_status: number;
  readonly api_access_options: number;
  readonly monetization_options: number;
  readonly email: string | null;
  readonly date_joined: number;
  readonly monetization_status: number;
  readonly is_locked: number;
  /** Null while the game has the default terms. */
  readonly terms: string | null;
  readonly balance: number;
  readonly pending: number;
  readonly deficit: number;
}

const balanceOf = (kind: string) => `coalesce((select a.balance from ledger_accounts a where a.user_id = u.id
    and a.game_id = g.id and a.kind = '${kind}' and a.currency = ? and a.provider = ''), 0)`;
const WALLET = `select u.id, g.status as game_status, g.api_access_options, g.monetization_options, u.email,
    u.date_joined, u.monetization_status,
    case when exists (select 1 from marketplace_locks l where l.user_id = u.id) then 1 else 0 end as is_locked,
    (select t.terms from selling_terms t where t.game_id = g.id order by t.id desc limit 1) as terms,
    ${balanceOf('wallet')} as balance, ${balanceOf('pending_earnings')} as pending, ${balanceOf('deficit')} as deficit
  from games g cross join users u where g.id = ?`;
const ONE = statement(`${WALLET} and u.id = ?`);
const MANY = statement(`${WALLET} and u.id = any(${idsIn('?')})`);
const wallets = new BatchedReads<WalletRow>();

/** Clients read the wallet with every page of a shop, so one statement reads everything. */
export function walletOf(db: Database, userId: number, gameId: number, currency: string) {
  const values = [currency, currency, currency, gameId];
  if (db.dialect === 'sqlite') return db.first<WalletRow>(ONE, [...values, userId]);
  const rowsOf = async (ids: readonly number[]) => {
    const rows = await db.all<WalletRow>(MANY, [...values, JSON.stringify(ids)]);
    return new Map(rows.map((row) => [row.id, row]));
  };
  return wallets.read(db, userId, { variant: `${gameId}/${currency}`, rowsOf });
}
