import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { takesBack } from '../../platform/database/reversals.ts';
import type { PaymentsTable } from './table.ts';

export type PaymentRow = Selectable<PaymentsTable>;
type Reader = Pick<Database, 'first'>;

const BY_ID = statement('select * from payments where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<PaymentRow>(BY_ID, [id]);
const BY_ID_LOCKED = withUpdateLock(BY_ID);
/** Others who decide over the payment wait from here on. */
export const lockById = (transaction: Transaction, id: number) => transaction.first<PaymentRow>(BY_ID_LOCKED, [id]);

const BY_REFERENCE = statement('select * from payments where provider = ? and reference = ?');
export const byReference = (reader: Reader, provider: string, reference: string) =>
  reader.first<PaymentRow>(BY_REFERENCE, [provider, reference]);

const BY_REQUEST = statement(`select * from payments
  where user_id = ? and game_id = ? and request_key = ? and date_added > ? order by id desc limit 1`);
export const byRequest = (reader: Reader, userId: number, gameId: number, key: string, since: number) =>
  reader.first<PaymentRow>(BY_REQUEST, [userId, gameId, key, since]);

export const add = (query: Query, row: Insertable<PaymentsTable>): Promise<PaymentRow> =>
  query.insertInto('payments').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, changes: Updateable<PaymentsTable>): Promise<PaymentRow> =>
  query.updateTable('payments').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

export const setUrl = (query: Query, id: number, url: string) =>
  query.updateTable('payments').set({ url }).where('id', '=', id).execute();

export async function ofUser(query: Query, userId: number, { limit, offset }: { limit: number; offset: number }) {
  const own = query.selectFrom('payments').where('user_id', '=', userId);
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await own.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}

const REFUNDED = statement(
  "select count(*) as refunds from payments where user_id = ? and game_id = ? and status = 'refunded' and date_ended > ?",
);
export const refundsSince = async (transaction: Transaction, userId: number, gameId: number, since: number) =>
  Number((await transaction.first<{ refunds: number }>(REFUNDED, [userId, gameId, since]))!.refunds);

const PENDING = statement("select * from payments where status = 'pending' and id > ? order by id limit ?");
export const pendingAfter = (db: Database, id: number, most: number) => db.all<PaymentRow>(PENDING, [id, most]);

/** Payments whose state disagrees with the books, for their verification. */
export const disagreeing = (query: Query) =>
  query
    .selectFrom('payments as p')
    .leftJoin('ledger_transactions as t', 't.id', 'p.transaction_id')
    .leftJoin('ledger_transactions as r', (join) => join.on(takesBack('r', 't.id')))
    .select(['p.id', 'p.status'])
    .where((eb) =>
      eb.or([
        eb.and([eb('p.status', 'in', ['pending', 'failed']), eb('t.id', 'is not', null)]),
        eb.and([eb('p.status', '=', 'paid'), eb.or([eb('t.id', 'is', null), eb('r.id', 'is not', null)])]),
        eb.and([
          eb('p.status', 'in', ['refunded', 'disputed']),
          eb.or([eb('t.id', 'is', null), eb('r.id', 'is', null)]),
        ]),
      ]),
    )
    .limit(20)
    .execute();
