import type { Selectable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { ImportRemovalsTable, ImportsTable } from './table.ts';

export type ImportRow = Selectable<ImportsTable>;

export const byDigest = (query: Query, digest: string): Promise<ImportRow | undefined> =>
  query.selectFrom('imports').selectAll().where('digest', '=', digest).executeTakeFirst();

export const add = (query: Query, row: Omit<ImportRow, 'id'>): Promise<ImportRow> =>
  query.insertInto('imports').values(row).returningAll().executeTakeFirstOrThrow();

export const finish = (query: Query, id: number, date_finished: number) =>
  query.updateTable('imports').set({ date_finished }).where('id', '=', id).execute();

export const progressOf = (query: Query, importId: number) =>
  query.selectFrom('import_parts').select(['name', 'done', 'rows_taken']).where('import_id', '=', importId).execute();

const PUT_PROGRESS = statement(`insert into import_parts (import_id, name, done, rows_taken) values (?, ?, ?, ?)
  on conflict (import_id, name) do update set done = excluded.done,
    rows_taken = import_parts.rows_taken + excluded.rows_taken`);
export const putProgress = (transaction: Transaction, importId: number, name: string, done: number, taken: number) =>
  transaction.run(PUT_PROGRESS, [importId, name, done, taken]);

const REFUSE = statement('insert into import_refusals (import_id, part, line, reason) values (?, ?, ?, ?)');
export const refuse = (transaction: Transaction, importId: number, part: string, line: number, reason: string) =>
  transaction.run(REFUSE, [importId, part, line, reason]);

export const refusalsOf = (query: Query, importId: number, most: number) =>
  query
    .selectFrom('import_refusals')
    .select(['part', 'line', 'reason'])
    .where('import_id', '=', importId)
    .orderBy('id')
    .limit(most)
    .execute();

export async function refusalCount(query: Query, importId: number): Promise<number> {
  const counted = query.selectFrom('import_refusals').select((eb) => eb.fn.countAll().as('n'));
  return Number((await counted.where('import_id', '=', importId).executeTakeFirstOrThrow()).n);
}

export const forgetRefusals = (transaction: Transaction, importId: number) =>
  transaction.query.deleteFrom('import_refusals').where('import_id', '=', importId).execute();

/** The ids here of rows of a source, by their ids there. */
export async function newIdsOf(query: Query, source: string, resource: string, oldIds: readonly number[]) {
  if (oldIds.length === 0) return new Map<number, number>();
  const rows = await query
    .selectFrom('imported_ids')
    .select(['old_id', 'new_id'])
    .where('source', '=', source)
    .where('resource', '=', resource)
    .where('old_id', 'in', oldIds)
    .execute();
  return new Map(rows.map(({ old_id, new_id }) => [old_id, new_id]));
}

export interface Imported {
  readonly old_id: number;
  readonly new_id: number;
  readonly version: string;
}

/** The rows that earlier imports brought from a source, by their ids there. */
export async function importedRows(query: Query, source: string, resource: string, oldIds: readonly number[]) {
  if (oldIds.length === 0) return new Map<number, Imported>();
  const rows = await query
    .selectFrom('imported_ids')
    .select(['old_id', 'new_id', 'version'])
    .where('source', '=', source)
    .where('resource', '=', resource)
    .where('old_id', 'in', oldIds)
    .execute();
  return new Map(rows.map((row) => [row.old_id, row]));
}

const rowsAt = (query: Query, source: string, resource: string) =>
  query.updateTable('imported_ids').where('source', '=', source).where('resource', '=', resource);

export const keep = (query: Query, importId: number, source: string, resource: string, oldIds: readonly number[]) =>
  rowsAt(query, source, resource).set({ kept_in: importId }).where('old_id', 'in', oldIds).execute();

/** Those of the rows that an import left as they are. */
export async function keptAmong(query: Query, importId: number, resource: string, newIds: readonly number[]) {
  if (newIds.length === 0) return new Set<number>();
  const rows = query.selectFrom('imported_ids').select('new_id').where('resource', '=', resource);
  const kept = await rows.where('kept_in', '=', importId).where('new_id', 'in', newIds).execute();
  return new Set(kept.map(({ new_id }) => new_id));
}

/** The ids at the source of rows that the last import left as they are. */
export async function keptOf(query: Query, source: string, resource: string): Promise<number[]> {
  const rows = query.selectFrom('imported_ids').select('old_id').where('source', '=', source);
  const kept = await rows.where('resource', '=', resource).where('kept_in', '>', 0).orderBy('old_id').execute();
  return kept.map(({ old_id }) => old_id);
}

export const setVersion = (query: Query, source: string, resource: string, oldId: number, version: string) =>
  rowsAt(query, source, resource).set({ version, kept_in: 0 }).where('old_id', '=', oldId).execute();

export const forgetRow = (query: Query, source: string, resource: string, oldId: number) =>
  query
    .deleteFrom('imported_ids')
    .where('source', '=', source)
    .where('resource', '=', resource)
    .where('old_id', '=', oldId)
    .execute();

export type Removal = Pick<Selectable<ImportRemovalsTable>, 'resource' | 'old_id' | 'change' | 'name'>;

export const addRemoval = (query: Query, importId: number, removal: Removal) =>
  query
    .insertInto('import_removals')
    .values({ import_id: importId, ...removal })
    .execute();

export const removalsOf = (query: Query, importId: number, most: number): Promise<Removal[]> =>
  query
    .selectFrom('import_removals')
    .select(['resource', 'old_id', 'change', 'name'])
    .where('import_id', '=', importId)
    .orderBy('id')
    .limit(most)
    .execute();

export async function removalCounts(query: Query, importId: number): Promise<Record<string, number>> {
  const counted = query.selectFrom('import_removals').select((eb) => ['resource', eb.fn.countAll().as('n')]);
  const rows = await counted.where('import_id', '=', importId).groupBy('resource').orderBy('resource').execute();
  return Object.fromEntries(rows.map(({ resource, n }) => [resource, Number(n)]));
}

/** The rows that an import wrote, in the order of their ids here. */
export const writtenBy = (query: Query, importId: number, resource: string, afterId: number, most: number) =>
  query
    .selectFrom('imported_ids')
    .select(['new_id as id'])
    .where('import_id', '=', importId)
    .where('resource', '=', resource)
    .where('new_id', '>', afterId)
    .orderBy('new_id')
    .limit(most)
    .execute();

const MOVED = statement(`select new_id from imported_ids where resource = ? and old_id = ? and new_id <> old_id
  order by import_id desc limit 1`);
/** Where a row went whose id was taken. */
export const movedTo = async (reader: Pick<Database, 'first'>, resource: string, oldId: number) =>
  (await reader.first<{ new_id: number }>(MOVED, [resource, oldId]))?.new_id;

const MOVED_IN_GAME = statement(`select i.new_id from imported_ids i join mods m on m.id = i.new_id and m.game_id = ?
  where i.resource = 'mods' and i.old_id = ? and i.new_id <> i.old_id order by i.import_id desc limit 1`);
export const modMovedTo = async (reader: Pick<Database, 'first'>, gameId: number, oldId: number) =>
  (await reader.first<{ new_id: number }>(MOVED_IN_GAME, [gameId, oldId]))?.new_id;
