import type { Transaction } from '../../platform/database/database.ts';
import { newIdsOf } from '../../records/imports/store.ts';
import { NAMED_RESOURCES, type References } from '../tables/references.ts';
import type { Table } from '../tables/schema.ts';
import type { Row } from './rows.ts';

/** The table that a column of this row refers to, if any. */
export function targetOf(references: References, table: Table, column: string, row: Row): string | undefined {
  const target = references.get(table.name)?.get(column);
  if (target !== 'resource') return target;
  return NAMED_RESOURCES.find((name) => name === row['resource']);
}

/** Names of tags in translations contain the id of the tag. */
const TAG_FIELD = /^(tag|tag_group)\/(\d+)$/;
const TAG_TABLES: Readonly<Record<string, string>> = { tag: 'game_tags', tag_group: 'game_tag_groups' };

interface Reference {
  readonly row: Row;
  readonly resource: string;
  readonly id: number;
  put(id: number): void;
}

function* referencesIn(references: References, table: Table, rows: readonly Row[]): Generator<Reference> {
  for (const row of rows) {
    for (const column of references.get(table.name)?.keys() ?? []) {
      const resource = targetOf(references, table, column, row);
      const id = row[column];
      // 0 names nobody and nothing.
      if (resource === undefined || typeof id !== 'number' || id === 0) continue;
      yield { row, resource, id, put: (changed) => (row[column] = changed) };
    }
    const [, kind, tag] = table.name === 'translations' ? (TAG_FIELD.exec(String(row['field'])) ?? []) : [];
    if (kind && tag)
      yield { row, resource: TAG_TABLES[kind]!, id: Number(tag), put: (id) => (row['field'] = `${kind}/${id}`) };
  }
}

/**
 * Replaces the ids of the source with those that their rows have here; `own` are those of these rows. Returns the
 * rows that name a missing one.
 */
export async function mapReferences(
  { query }: Transaction,
  source: string,
  references: References,
  table: Table,
  rows: readonly Row[],
  own: ReadonlyMap<number, number>,
): Promise<Map<Row, string>> {
  const all = [...referencesIn(references, table, rows)];
  const missing = new Map<Row, string>();
  for (const [resource, some] of Map.groupBy(all, (each) => each.resource)) {
    const ids = await newIdsOf(query, source, resource, [...new Set(some.map(({ id }) => id))]);
    for (const { row, id, put } of some) {
      const known = (resource === table.name ? own.get(id) : undefined) ?? ids.get(id);
      if (known === undefined) missing.set(row, `${resource} ${id}, which it names, was not taken`);
      else put(known);
    }
  }
  return missing;
}
