import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Query, Transaction } from '../../platform/database/database.ts';
import * as store from '../../records/imports/store.ts';
import type { Importing } from './importing.ts';
import type { Row } from './rows.ts';

/** What a change here alters, by kind. Counts and results of scans are not among it. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  games: ['date_updated'],
  mods: ['date_updated', 'status', 'visible'],
  modfiles: ['date_updated', 'status', 'withdrawn'],
  guides: ['date_updated', 'status', 'withheld'],
  collections: ['date_updated', 'status', 'visible'],
  comments: ['markup', 'options', 'date_deleted', 'withheld'],
  team_members: ['level', 'position'],
};

export const isVersioned = (kind: string): boolean => kind in COLUMNS;

/** A digest by which a later import finds out whether the row was changed here; empty for kinds without one. */
export function versionOf(kind: string, row: Row): string {
  const columns = COLUMNS[kind];
  if (!columns) return '';
  const hash = createHash('sha1').update(columns.map((name) => String(row[name])).join('\0'));
  return hash.digest('base64url').slice(0, 12);
}

/** The versions of rows as they are now. */
export async function versionsNow(query: Query, kind: string, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const columns = ['id', ...COLUMNS[kind]!].map((name) => sql.ref(name));
  const rows = await sql<Row>`select ${sql.join(columns)} from ${sql.table(kind)}
    where id in (${sql.join(ids)})`.execute(query);
  return new Map(rows.rows.map((row) => [Number(row['id']), versionOf(kind, row)]));
}

/** What was done here, since the last import, to rows that it brought; by their ids at the source. */
export async function changedHere(
  query: Query,
  source: string,
  kind: string,
  oldIds: readonly number[],
): Promise<Map<number, 'changed' | 'removed'>> {
  if (!isVersioned(kind)) return new Map();
  const known = [...(await store.importedRows(query, source, kind, oldIds)).values()];
  const now = await versionsNow(
    query,
    kind,
    known.map(({ new_id }) => new_id),
  );
  return new Map(
    known.flatMap(({ old_id, new_id, version }): [number, 'changed' | 'removed'][] => {
      const current = now.get(new_id);
      if (version === '' || current === version) return [];
      return [[old_id, current === undefined ? 'removed' : 'changed']];
    }),
  );
}

export const keptBecause = (kind: string, oldId: number, what: 'changed' | 'removed', name = ''): string =>
  `${kind} ${oldId}${name && ` (${name})`} was ${what} here since the last import, and stays so; --overwrite takes the source’s`;

/** The rows that stay as they are, because they were changed here since an earlier import brought them. */
export async function keepChanged(
  { row: { id, source }, options }: Importing,
  { query }: Transaction,
  kind: string,
  rows: readonly Row[],
): Promise<Map<Row, string>> {
  if (options.overwrite) return new Map();
  const oldIds = rows.flatMap((row) => (typeof row['id'] === 'number' ? [row['id']] : []));
  const changed = await changedHere(query, source, kind, oldIds);
  if (changed.size > 0) await store.keep(query, id, source, kind, [...changed.keys()]);
  return new Map(
    rows.flatMap((row): [Row, string][] => {
      const what = changed.get(row['id'] as number);
      return what ? [[row, keptBecause(kind, row['id'] as number, what, String(row['name'] ?? ''))]] : [];
    }),
  );
}
