import type { Selectable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type { EarningsTable } from './table.ts';

export type EarningRow = Selectable<EarningsTable>;
type Reader = Pick<Database, 'first' | 'all'>;

const ADD = statement(`insert into earnings (sale_id, user_id, game_id, mod_id, terms_id, tokens, currency, amount,
  withheld, remainder_micros, status, cleared_id, date_added, date_due, date_cleared, date_ended)
  values (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 'pending', 0, ?, ?, 0, 0)`);
export type NewEarning = Pick<
  EarningRow,
  'sale_id' | 'user_id' | 'game_id' | 'mod_id' | 'terms_id' | 'tokens' | 'currency' | 'date_added' | 'date_due'
>;
export const add = (transaction: Transaction, row: NewEarning) =>
  transaction.run(ADD, [
    row.sale_id,
    row.user_id,
    row.game_id,
    row.mod_id,
    row.terms_id,
    row.tokens,
    row.currency,
    row.date_added,
    row.date_due,
  ]);

const OF_SALE = withUpdateLock(statement('select * from earnings where sale_id = ? order by id'));
/** Clearing waits from here on. */
export const lockOfSale = (transaction: Transaction, saleId: number) => transaction.all<EarningRow>(OF_SALE, [saleId]);

const DUE_SELLERS = statement(`select distinct game_id, user_id from earnings
  where status = 'pending' and date_due <= ? and (game_id, user_id) > (?, ?) order by game_id, user_id limit ?`);
/** Sellers with earnings whose hold is over, in the order of game and user. */
export const dueSellers = (reader: Reader, now: number, after: Seller, most: number) =>
  reader.all<Seller>(DUE_SELLERS, [now, after.game_id, after.user_id, most]);

export type Seller = Pick<EarningRow, 'game_id' | 'user_id'>;

const DUE = withUpdateLock(
  statement(`select * from earnings where user_id = ? and game_id = ? and cleared_id = 0 and status = 'pending'
    and date_due <= ? order by id limit ?`),
);
export const lockDue = (transaction: Transaction, { user_id, game_id }: Seller, now: number, most: number) =>
  transaction.all<EarningRow>(DUE, [user_id, game_id, now, most]);

const REMAINDER = statement(`select remainder_micros from earnings
  where user_id = ? and game_id = ? and cleared_id > 0 and currency = ? order by cleared_id desc, id desc limit 1`);
export const remainderOf = async (reader: Reader, { user_id, game_id }: Seller, currency: string): Promise<number> =>
  (await reader.first<{ remainder_micros: number }>(REMAINDER, [user_id, game_id, currency]))?.remainder_micros ?? 0;

const CLEAR = statement(`update earnings set status = 'cleared', amount = ?, withheld = ?, remainder_micros = ?,
  cleared_id = ?, date_cleared = ? where id = ?`);
export type Cleared = Pick<EarningRow, 'id' | 'amount' | 'withheld' | 'remainder_micros'>;
export const clear = (transaction: Transaction, row: Cleared, clearedId: number, now: number) =>
  transaction.run(CLEAR, [row.amount, row.withheld, row.remainder_micros, clearedId, now, row.id]);

const TAKE_BACK = statement("update earnings set status = 'taken_back', date_ended = ? where sale_id = ?");
export const takeBack = (transaction: Transaction, saleId: number, now: number) =>
  transaction.run(TAKE_BACK, [now, saleId]);

const NEXT = statement(`select game_id, min(date_due) as date_due from earnings
  where user_id = ? and cleared_id = 0 and status = 'pending' group by game_id`);
/** When the next earnings of a seller clear, per game. */
export const nextDates = (reader: Reader, userId: number) =>
  reader.all<{ game_id: number; date_due: number }>(NEXT, [userId]);

/** Games whose pending earnings are not those of the books, for their verification. */
export async function disagreeing(query: Query): Promise<{ game_id: number; tokens: number; balance: number }[]> {
  const held = await query
    .selectFrom('earnings')
    .select(({ fn }) => ['game_id', fn.sum('tokens').as('tokens')])
    .where('status', '=', 'pending')
    .groupBy('game_id')
    .execute();
  const booked = await query
    .selectFrom('ledger_accounts')
    .select(({ fn }) => ['game_id', fn.sum('balance').as('balance')])
    .where('kind', '=', 'pending_earnings')
    .groupBy('game_id')
    .execute();
  const tokens = new Map(held.map((row) => [row.game_id, Number(row.tokens)]));
  return booked
    .map((row) => ({ game_id: row.game_id, tokens: tokens.get(row.game_id) ?? 0, balance: Number(row.balance) }))
    .filter((row) => row.tokens !== row.balance);
}

/** Cleared earnings without their transaction. */
export const unposted = (query: Query) =>
  query
    .selectFrom('earnings as e')
    .leftJoin('ledger_transactions as t', 't.id', 'e.cleared_id')
    .select('e.id')
    .where((eb) =>
      eb.or([
        eb.and([eb('e.status', '=', 'cleared'), eb('e.cleared_id', '=', 0)]),
        eb.and([eb('e.cleared_id', '>', 0), eb.or([eb('t.id', 'is', null), eb('t.kind', '<>', 'clearing')])]),
      ]),
    )
    .limit(20)
    .execute();
