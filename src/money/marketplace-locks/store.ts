import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { MarketplaceLocksTable } from './table.ts';

export type LockRow = MarketplaceLocksTable;

const LOCKED = statement('select 1 as locked from marketplace_locks where user_id = ?');
export const isLocked = async (reader: Pick<Database, 'first'>, userId: number): Promise<boolean> =>
  (await reader.first(LOCKED, [userId])) !== undefined;

const PUT = statement(`insert into marketplace_locks (user_id, reason, decided_by, date_added) values (?, ?, ?, ?)
  on conflict (user_id) do update set reason = excluded.reason, decided_by = excluded.decided_by,
  date_added = excluded.date_added`);
export const put = (transaction: Transaction, { user_id, reason, decided_by, date_added }: LockRow) =>
  transaction.run(PUT, [user_id, reason, decided_by, date_added]);

const REMOVE = statement('delete from marketplace_locks where user_id = ?');
export const remove = (transaction: Transaction, userId: number) => transaction.run(REMOVE, [userId]);

export async function list(query: Query, { limit, offset }: { readonly limit: number; readonly offset: number }) {
  const all = query.selectFrom('marketplace_locks');
  const { total } = await all.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await all.selectAll().orderBy('user_id').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}
