import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { takesBack } from '../../platform/database/reversals.ts';
import type { PayoutsTable, SimulatedPayoutsTable } from './table.ts';

export type PayoutRow = Selectable<PayoutsTable>;
export type PayoutStatus = PayoutRow['status'];
export type SimulatedPayout = SimulatedPayoutsTable;
type Reader = Pick<Database, 'first' | 'all'>;
type Page = { readonly limit: number; readonly offset: number };

const BY_ID = statement('select * from payouts where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<PayoutRow>(BY_ID, [id]);
const BY_ID_LOCKED = withUpdateLock(BY_ID);
/** Others who record an outcome wait from here on. */
export const lockById = (transaction: Transaction, id: number) => transaction.first<PayoutRow>(BY_ID_LOCKED, [id]);

const BY_REQUEST =
  statement(`select * from payouts where user_id = ? and game_id = ? and request_key = ? and period = ''
  and date_added > ? order by id desc limit 1`);
export const byRequest = (reader: Reader, userId: number, gameId: number, key: string, since: number) =>
  reader.first<PayoutRow>(BY_REQUEST, [userId, gameId, key, since]);

const BY_PERIOD = statement(
  'select 1 as made from payouts where user_id = ? and game_id = ? and currency = ? and period = ?',
);
export const isMade = async (reader: Reader, userId: number, gameId: number, currency: string, period: string) =>
  (await reader.first(BY_PERIOD, [userId, gameId, currency, period])) !== undefined;

export const add = (query: Query, row: Insertable<PayoutsTable>): Promise<PayoutRow> =>
  query.insertInto('payouts').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, changes: Updateable<PayoutsTable>): Promise<PayoutRow> =>
  query.updateTable('payouts').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

const TO_ASK = statement('select * from payouts where date_next > 0 and date_next <= ? and id > ? order by id limit ?');
/** Payouts whose provider is to be asked now. */
export const toAsk = (reader: Reader, now: number, after: number, most: number) =>
  reader.all<PayoutRow>(TO_ASK, [now, after, most]);

export interface PayoutFilter {
  readonly userId?: number | undefined;
  readonly gameId?: number | undefined;
  readonly status?: PayoutStatus | undefined;
}

export async function list(query: Query, { userId, gameId, status }: PayoutFilter, { limit, offset }: Page) {
  const own = query
    .selectFrom('payouts')
    .$if(userId !== undefined, (some) => some.where('user_id', '=', userId!))
    .$if(gameId !== undefined, (some) => some.where('game_id', '=', gameId!))
    .$if(status !== undefined, (some) => some.where('status', '=', status!));
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await own.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}

const PAYABLE = statement(`select id, user_id, game_id, currency from ledger_accounts
  where kind = 'earnings' and balance > 0 and id > ? order by id limit ?`);
export interface Payable {
  readonly id: number;
  readonly user_id: number;
  readonly game_id: number;
  readonly currency: string;
}
/** Sellers who can be paid. */
export const payableAfter = (reader: Reader, id: number, most: number) => reader.all<Payable>(PAYABLE, [id, most]);

const ACCOUNT = statement('select account from payout_accounts where user_id = ? and provider = ?');
export const accountOf = async (reader: Reader, userId: number, provider: string): Promise<string | undefined> =>
  (await reader.first<{ account: string }>(ACCOUNT, [userId, provider]))?.account;

export const addAccount = (
  query: Query,
  row: { user_id: number; provider: string; account: string; date_added: number },
) =>
  query
    .insertInto('payout_accounts')
    .values(row)
    .onConflict((key) => key.columns(['user_id', 'provider']).doNothing())
    .execute();

const SIMULATED = statement('select * from simulated_payouts where reference = ?');
export const simulatedByReference = (reader: Reader, reference: string) =>
  reader.first<SimulatedPayout>(SIMULATED, [reference]);

export const addSimulated = (query: Query, row: SimulatedPayout) =>
  query
    .insertInto('simulated_payouts')
    .values(row)
    .onConflict((key) => key.column('reference').doNothing())
    .execute();

/** Payouts whose state disagrees with the books, for their verification. */
export const disagreeing = (query: Query) =>
  query
    .selectFrom('payouts as p')
    .leftJoin('ledger_transactions as t', 't.id', 'p.transaction_id')
    .leftJoin('ledger_transactions as f', (join) => join.on(takesBack('f', 'p.transaction_id')))
    .leftJoin('ledger_transactions as d', 'd.id', 'p.paid_id')
    .leftJoin('ledger_transactions as r', (join) => join.on(takesBack('r', 'p.paid_id')))
    .select(['p.id', 'p.status'])
    .where((eb) =>
      eb.or([
        eb('t.id', 'is', null),
        eb.and([eb('p.status', '=', 'failed'), eb('f.id', 'is', null)]),
        eb.and([eb('p.status', '<>', 'failed'), eb('f.id', 'is not', null)]),
        eb.and([eb('p.status', 'in', ['paid', 'returned']), eb('d.id', 'is', null)]),
        eb.and([eb('p.status', '=', 'returned'), eb('r.id', 'is', null)]),
        eb.and([eb('p.status', '=', 'paid'), eb('r.id', 'is not', null)]),
      ]),
    )
    .limit(20)
    .execute();
