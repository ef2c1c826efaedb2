import type { Selectable } from 'kysely';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type { AuditHeadTable, AuditLogTable } from './table.ts';

export type AuditRow = Selectable<AuditLogTable>;
type Head = Pick<AuditHeadTable, 'last_id' | 'hash'>;

const HEAD = statement('select last_id, hash from audit_head where id = 1');
/** On PostgreSQL other writers wait from here on; SQLite has one writer anyway. */
const HEAD_HELD = withUpdateLock(HEAD);
export const lockHead = async (transaction: Transaction): Promise<Head> =>
  (await transaction.first<Head>(HEAD_HELD, []))!;

const ADD = statement(`insert into audit_log
  (id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous, hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
const MOVE = statement('update audit_head set last_id = ?, hash = ? where id = 1');

export async function add(transaction: Transaction, row: AuditRow): Promise<void> {
  const { id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous, hash } = row;
  const values = [id, date_added, game_id, user_id, action, resource, resource_id, reason, data, previous, hash];
  await transaction.run(ADD, values);
  await transaction.run(MOVE, [id, hash]);
}

export const headOf = (query: Query): Promise<Head | undefined> =>
  query.selectFrom('audit_head').select(['last_id', 'hash']).where('id', '=', 1).executeTakeFirst();

export const rowsAfter = (query: Query, id: number, upTo: number, most: number): Promise<AuditRow[]> =>
  query
    .selectFrom('audit_log')
    .selectAll()
    .where('id', '>', id)
    .where('id', '<=', upTo)
    .orderBy('id')
    .limit(most)
    .execute();

export const hasRowsBeyond = async (query: Query, id: number): Promise<boolean> =>
  (await query
    .selectFrom('audit_log')
    .select('id')
    .where((eb) => eb.or([eb('id', '>', id), eb('id', '<', 1)]))
    .limit(1)
    .executeTakeFirst()) !== undefined;

const PUT_HASH = statement('update audit_log set previous = ?, hash = ? where id = ?');
export const putHash = (transaction: Transaction, id: number, previous: string, hash: string) =>
  transaction.run(PUT_HASH, [previous, hash, id]);

export const putHead = (transaction: Transaction, id: number, hash: string) => transaction.run(MOVE, [id, hash]);
