import { sql } from 'kysely';
import type { Query, Tables } from './database.ts';

/** The reason why a column is not exported, or stays. */
export interface NotExported {
  readonly notExported: string;
}
export interface Retained {
  readonly retained: string;
}
export const notExported = (because: string): NotExported => ({ notExported: because });
export const retained = (because: string): Retained => ({ retained: because });

/** The rows stay, with these values instead of personal ones. */
export interface Cleared {
  readonly cleared: Readonly<Record<string, string | number | null>>;
}
export const cleared = (values: Cleared['cleared']): Cleared => ({ cleared: values });

/**
 * A column that refers to a user, and what happens to its rows on export, deletion and merge. A test fails for every
 * such column without a declaration.
 */
export interface PersonalColumn {
  readonly table: keyof Tables;
  readonly column: string;
  /** The rows in which it refers to a user, if not all. */
  readonly where?: string;
  /** The columns that the user's data export includes. */
  readonly exported: readonly string[] | NotExported;
  /** `step`: the resource does more than delete rows, such as recount. */
  readonly whenDeleted: 'erased' | 'step' | Cleared | Retained;
  readonly whenMerged: 'moved' | 'dropped' | 'step' | Retained;
  /** Unique columns per user; when both merged accounts have the row, the surviving account's row stays. */
  readonly once?: readonly string[];
  /** Refers to another user: a row that would refer to one user twice is deleted. */
  readonly apart?: string;
}

const rowsIn = ({ where = '1 = 1' }: PersonalColumn) => sql.raw(where);
const of = (each: PersonalColumn, userId: number) =>
  sql`${sql.table(each.table)} where ${sql.ref(`${each.table}.${each.column}`)} = ${userId} and ${rowsIn(each)}`;

/** Deletes the rows that belong to the user alone. */
export async function eraseRows(query: Query, columns: readonly PersonalColumn[], userId: number): Promise<void> {
  for (const each of columns) {
    const { whenDeleted } = each;
    if (whenDeleted === 'erased') await sql`delete from ${of(each, userId)}`.execute(query);
    else if (typeof whenDeleted === 'object' && 'cleared' in whenDeleted) {
      const values = Object.entries(whenDeleted.cleared).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
      await sql`update ${sql.table(each.table)} set ${sql.join(values)}
        where ${sql.ref(each.column)} = ${userId} and ${rowsIn(each)}`.execute(query);
    }
  }
}

/** Moves rows from one account to another. */
export async function moveRows(
  query: Query,
  columns: readonly PersonalColumn[],
  from: number,
  to: number,
): Promise<void> {
  for (const each of columns) {
    if (each.whenMerged === 'dropped') await sql`delete from ${of(each, from)}`.execute(query);
    if (each.whenMerged !== 'moved') continue;
    const { table, column, once, apart } = each;
    if (apart) await sql`delete from ${of(each, from)} and ${sql.ref(apart)} = ${to}`.execute(query);
    if (once) {
      const equal = once.map((name) => sql`and o.${sql.ref(name)} = ${sql.ref(`${table}.${name}`)}`);
      await sql`delete from ${of(each, from)} and exists (select 1 from ${sql.table(table)} as o
        where o.${sql.ref(column)} = ${to} ${sql.join(equal, sql` `)})`.execute(query);
    }
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${to}
      where ${sql.ref(column)} = ${from} and ${rowsIn(each)}`.execute(query);
  }
}

/** One page of a column's exported rows, in the order of the exported columns. */
export async function exportedRows(
  query: Query,
  each: PersonalColumn,
  exported: readonly string[],
  userId: number,
  page: { limit: number } & ({ offset: number } | { after: number }),
): Promise<Record<string, unknown>[]> {
  const shown = sql.join(exported.map((column) => sql.ref(column)));
  const rows = sql`select ${shown} from ${of(each, userId)}`;
  const paged =
    'after' in page
      ? sql`${rows} and id > ${page.after} order by id limit ${page.limit}`
      : sql`${rows} order by ${shown} limit ${page.limit} offset ${page.offset}`;
  return (await paged.execute(query)).rows as Record<string, unknown>[];
}
