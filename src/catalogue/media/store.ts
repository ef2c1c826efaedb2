import type { Selectable } from 'kysely';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { MediaKind, ModMediaTable } from './table.ts';

export type { MediaKind } from './table.ts';
export type MediaRow = Selectable<ModMediaTable>;

const OF_MOD = statement('select * from mod_media where mod_id = ? order by position, id');
export const mediaOf = (transaction: Transaction, modId: number) => transaction.all<MediaRow>(OF_MOD, [modId]);

export async function add(query: Query, rows: readonly Omit<MediaRow, 'id'>[]): Promise<void> {
  if (rows.length > 0) await query.insertInto('mod_media').values(rows).execute();
}

export async function remove(query: Query, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await query.deleteFrom('mod_media').where('id', 'in', ids).execute();
}

export const removeOfMod = (query: Query, modId: number) =>
  query.deleteFrom('mod_media').where('mod_id', '=', modId).execute();

const PUT_POSITION = statement('update mod_media set position = ? where mod_id = ? and kind = ? and value = ?');
export async function reorder(
  transaction: Transaction,
  modId: number,
  kind: MediaKind,
  values: readonly string[],
): Promise<void> {
  for (const [position, value] of values.entries()) await transaction.run(PUT_POSITION, [position, modId, kind, value]);
}
