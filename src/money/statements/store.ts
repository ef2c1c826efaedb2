import { type RawBuilder, sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';

/** Unix seconds, inclusive and exclusive. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** The sum of what one cause moved in accounts of one kind. `balance` is today's balance, `later` what followed. */
export interface MovedRow {
  readonly user_id: number;
  readonly game_id: number;
  readonly kind: string;
  readonly currency: string;
  readonly provider: string;
  readonly cause: string;
  readonly amount: number;
}

const LATER = 'later';
const BALANCE = 'balance';
/** Withheld tax that a refund gave back, which no entry of the seller shows. */
export const TAX_RETURNED = 'tax_returned';

const summed = async (query: Query, parts: RawBuilder<unknown>): Promise<MovedRow[]> => {
  const { rows } = await sql<MovedRow>`select user_id, game_id, kind, currency, provider, cause, sum(amount) as amount
    from (${parts}) as moved group by user_id, game_id, kind, currency, provider, cause
    order by game_id, user_id, currency, kind, provider`.execute(query);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
};

/**
 * The accounts of games, those of users as one. Each period is computed backwards from today's balances, in one
 * statement, so that it costs what was posted since and agrees with itself while others post.
 */
export const movedInGames = (query: Query, gameIds: readonly number[], { from, until }: Period) =>
  summed(
    query,
    sql`select 0 as user_id, game_id, kind, currency, provider, ${sql.lit(BALANCE)} as cause, balance as amount
        from ledger_accounts where game_id in (${sql.join(gameIds)})
      union all
      select 0, t.game_id, a.kind, a.currency, a.provider,
        case when t.date_added < ${until} then t.kind else ${sql.lit(LATER)} end, e.amount
        from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
        join ledger_accounts a on a.id = e.account_id
        where t.game_id in (${sql.join(gameIds)}) and t.date_added >= ${from}`,
  );

const SELLER_KINDS = sql`('pending_earnings', 'earnings', 'earnings_deficit', 'payouts_in_transit')`;

/**
 * The accounts of sellers, and the fees and taxes beside their entries: clearings and payouts have one seller each, and
 * what a refund returned of the withheld tax is known from the earnings.
 */
export function movedOfSellers(
  query: Query,
  userIds: readonly number[],
  gameId: number | undefined,
  { from, until }: Period,
): Promise<MovedRow[]> {
  const own = sql`a.user_id in (${sql.join(userIds)}) and a.kind in ${SELLER_KINDS}
    ${gameId === undefined ? sql`` : sql`and a.game_id = ${gameId}`}`;
  const inPeriod = sql`t.date_added >= ${from} and t.date_added < ${until}`;
  return summed(
    query,
    sql`select a.user_id, a.game_id, a.kind, a.currency, a.provider, ${sql.lit(BALANCE)} as cause, a.balance as amount
        from ledger_accounts a where ${own}
      union all
      select a.user_id, a.game_id, a.kind, a.currency, a.provider,
        case when t.date_added < ${until} then t.kind else ${sql.lit(LATER)} end, e.amount
        from ledger_accounts a join ledger_entries e on e.account_id = a.id
        join ledger_transactions t on t.id = e.transaction_id
        where ${own} and t.date_added >= ${from}
      union all
      select mine.user_id, o.game_id, o.kind, o.currency, o.provider, mine.cause, e.amount
        from (select distinct a.user_id, t.id, t.kind as cause
          from ledger_accounts a join ledger_entries e on e.account_id = a.id
          join ledger_transactions t on t.id = e.transaction_id
          where ${own} and ${inPeriod} and t.kind in ('clearing', 'payout', 'payout_return')) as mine
        join ledger_entries e on e.transaction_id = mine.id
        join ledger_accounts o on o.id = e.account_id and o.kind in ('withheld_tax', 'payout_fees')
      union all
      select a.user_id, a.game_id, 'withheld_tax', a.currency, '', ${sql.lit(TAX_RETURNED)}, a.withheld
        from earnings a join ledger_transactions t on t.reverses_id = a.sale_id and t.reverses_id > 0
        where a.user_id in (${sql.join(userIds)}) ${gameId === undefined ? sql`` : sql`and a.game_id = ${gameId}`}
        and a.cleared_id > 0 and a.withheld > 0 and t.kind = 'purchase_refund' and ${inPeriod}`,
  );
}

/** A page of the users who have accounts as sellers in a game. */
export async function sellersOf(query: Query, gameId: number, { limit, offset }: { limit: number; offset: number }) {
  const all = query
    .selectFrom('ledger_accounts')
    .where('game_id', '=', gameId)
    .where('kind', 'in', ['pending_earnings', 'earnings', 'earnings_deficit', 'payouts_in_transit']);
  const { total } = await all.select((eb) => eb.fn.count('user_id').distinct().as('total')).executeTakeFirstOrThrow();
  const rows = await all.select('user_id').distinct().orderBy('user_id').limit(limit).offset(offset).execute();
  return { userIds: rows.map(({ user_id }) => user_id), total: Number(total) };
}

/** A page of the games that have books. */
export async function gamesWithBooks(query: Query, { limit, offset }: { limit: number; offset: number }) {
  const { total } = await query
    .selectFrom('ledger_heads')
    .select((eb) => eb.fn.countAll().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectFrom('ledger_heads')
    .select('game_id')
    .orderBy('game_id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { gameIds: rows.map(({ game_id }) => game_id), total: Number(total) };
}
