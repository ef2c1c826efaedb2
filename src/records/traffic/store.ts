import type { Insertable, Selectable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import type { LimitedRequestsTable, SlowRequestsTable } from './table.ts';

export type LimitedRow = Selectable<LimitedRequestsTable>;
export type SlowRow = Selectable<SlowRequestsTable>;
type Page = { readonly limit: number; readonly offset: number };

const COUNT = statement(`insert into limited_requests (hour, rule, operation, caller, user_id, refused, date_last)
  values (?, ?, ?, ?, ?, ?, ?) on conflict (hour, rule, operation, caller, user_id) do update
  set refused = limited_requests.refused + excluded.refused, date_last = excluded.date_last`);
export const count = (transaction: Transaction, row: LimitedRow) =>
  transaction.run(COUNT, [row.hour, row.rule, row.operation, row.caller, row.user_id, row.refused, row.date_last]);

export const addSlow = (query: Query, rows: readonly Insertable<SlowRequestsTable>[]) =>
  query.insertInto('slow_requests').values(rows).execute();

export async function limited(query: Query, since: number, { limit, offset }: Page) {
  const found = query.selectFrom('limited_requests').where('hour', '>=', since);
  const { total } = await found.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await found
    .selectAll()
    .orderBy('hour', 'desc')
    .orderBy('refused', 'desc')
    .orderBy('rule')
    .orderBy('operation')
    .orderBy('caller')
    .orderBy('user_id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, total: Number(total) };
}

export async function slow(query: Query, slowestFirst: boolean, { limit, offset }: Page) {
  const { total } = await query
    .selectFrom('slow_requests')
    .select((eb) => eb.fn.countAll().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectFrom('slow_requests')
    .selectAll()
    .$if(slowestFirst, (all) => all.orderBy('milliseconds', 'desc'))
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows, total: Number(total) };
}

const LIMITED = someOf('limited_requests', ['hour', 'rule', 'operation', 'caller', 'user_id'], 'hour < ?');
const SLOW = someOf('slow_requests', ['id'], 'date_added < ?');
export async function forgetBefore(db: Database, date: number): Promise<void> {
  await removeInSteps(db, LIMITED, [date]);
  await removeInSteps(db, SLOW, [date]);
}
