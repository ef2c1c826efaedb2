import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from './database.ts';
import { pairsOf } from './words.ts';

export { fold } from './words.ts';

/** A column that a list may be filtered by, under its published name. */
export interface Column {
  readonly kind: 'integer' | 'text' | 'set';
  /**
   * The expression in SQL; the published name unless given. For text it is a folded column. A set has many members:
   * here stands the beginning of a query for the ids of rows, which ends with the column that holds a member.
   */
  readonly sql?: string;
  /** The beginning of a condition that the comparison stands in, where the column is another table's. */
  readonly within?: string;
  /** Values that ask for nothing when they are asked for. */
  readonly anything?: readonly number[];
  /** Of a set: the same question about the one row that is looked at. */
  readonly probe?: string;
  /** Members are compared as they are, not folded. */
  readonly exact?: boolean;
  /** Words, folded, that requests may use for some numbers. */
  readonly names?: Readonly<Record<string, number>>;
}

/** What one list can be asked. Built once per noun. */
export interface Listing {
  /** The table's name or alias in the query, for `id` as the last order. */
  readonly from: string;
  /** Which of the columns names the game that a row belongs to, if it is not `game_id`. */
  readonly game?: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** Published sort names and the expressions behind them. */
  readonly sorts: Readonly<Record<string, string>>;
  /** Sort names that give the largest first, and the smallest with `-` (docs/API-QUIRKS.md). */
  readonly largestFirst?: readonly string[];
  /**
   * The direction of an index on the expression in which `id` beside it counts up. Equals are then in the order of
   * the index, read forwards or backwards, so that nothing has to be sorted; without it `id` always counts up.
   */
  readonly indexed?: Readonly<Record<string, 'asc' | 'desc'>>;
  /** The table of words behind `_q`, with the column that names the row. */
  readonly words?: { readonly table: string; readonly key: string };
  /** What decides between rows that `_q` finds alike: the largest first. */
  readonly popularity?: string;
}

export const OPERATORS = ['not', 'lk', 'not-lk', 'in', 'not-in', 'min', 'max', 'st', 'gt', 'bitwise-and'] as const;
export type Operator = 'eq' | (typeof OPERATORS)[number];

export interface Filter {
  readonly column: Column & { readonly name: string };
  readonly operator: Operator;
  readonly values: readonly (string | number)[];
}

/** As requests name it. */
export const parameterOf = ({ column, operator }: Filter): string =>
  operator === 'eq' ? column.name : `${column.name}-${operator}`;

export interface ListRequest {
  /** All of these groups hold; of the filters within a group, any. */
  readonly groups: readonly (readonly Filter[])[];
  readonly words: readonly string[];
  /** Words that may have been meant by these. */
  readonly likely?: readonly string[];
  /** Most rows fit, so that each is asked whether it does, in the order of the list, until the page is full. */
  readonly probing?: boolean;
  readonly sort: { readonly sql: string; readonly descending: boolean; readonly idDescending?: boolean } | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * A condition that always holds. It marks queries that may have to look at every row, which on SQLite are answered in
 * another thread, for as long as one may take (`sqlite-reader-worker.ts`).
 */
export const LOOKING_THROUGH = '1 = 1 /* looking through */';

/** Rows before a page are skipped one by one. */
const SKIPPED_MAX = 1_000;

/** Whether no index leads straight to the rows of the page. */
export function looksThrough(listing: Listing, { groups, words, sort, offset }: ListRequest): boolean {
  const isSorted = sort !== undefined && listing.indexed?.[sort.sql] === undefined;
  return groups.length > 0 || words.length > 0 || isSorted || offset >= SKIPPED_MAX;
}

// biome-ignore lint/suspicious/noExplicitAny: the one general builder over every noun's query
type AnySelect = SelectQueryBuilder<Tables, any, any>;

/** Narrows a query to what was asked; the noun has already narrowed it to what the caller may see. */
export function narrowed<S>(select: S, listing: Listing, request: ListRequest): S {
  let query = select as unknown as AnySelect;
  if (looksThrough(listing, request)) query = query.where(sql.raw<SqlBool>(LOOKING_THROUGH));
  for (const group of request.groups)
    query = query.where(anyOf(group.map((filter) => condition(filter, listing, request))));
  if (request.words.length > 0 && listing.words) query = query.where(matchesWords(listing, request));
  return query as unknown as S;
}

/**
 * Orders and cuts the page. `id` decides between equals, so that pages neither repeat nor miss a row. What `_q` found
 * comes in the order of how well it fits, unless another one is asked for.
 */
export function paged<S>(select: S, listing: Listing, request: ListRequest): S {
  let query = select as unknown as AnySelect;
  if (request.sort) query = query.orderBy(sql.raw(request.sort.sql), request.sort.descending ? 'desc' : 'asc');
  else if (request.words.length > 0 && listing.words)
    query = query.orderBy(fitOf(listing, request), 'desc').orderBy(sql.raw(listing.popularity ?? '1'), 'desc');
  query = query
    .orderBy(sql.raw(`${listing.from}.id`), request.sort?.idDescending ? 'desc' : 'asc')
    .limit(request.limit)
    .offset(request.offset);
  return query as unknown as S;
}

/** Without an operator a row has all of the members; with `-in` any, and with `-not` and `-not-in` none of them. */
function membership({ column, operator, values }: Filter, listing: Listing, probing: boolean): Expression<SqlBool> {
  const id = sql.raw(`${listing.from}.id`);
  const has = (some: Filter['values']) =>
    probing && column.probe
      ? sql`exists (${sql.raw(column.probe)} in (${sql.join(some)}))`
      : sql`${id} in (${sql.raw(column.sql!)} in (${sql.join(some)}))`;
  if (values.length === 0) return operator === 'in' ? sql`1 = 0` : sql`1 = 1`;
  if (operator === 'in') return sql`${has(values)}`;
  if (operator === 'not' || operator === 'not-in') return sql`not ${has(values)}`;
  return sql`(${sql.join(
    values.map((value) => has([value])),
    sql` and `,
  )})`;
}

function condition(filter: Filter, listing: Listing, { probing = false }: ListRequest): Expression<SqlBool> {
  const { column, operator, values } = filter;
  if (column.kind === 'set') return membership(filter, listing, probing);
  if (operator === 'eq' && column.anything?.includes(Number(values[0]))) return sql`1 = 1`;
  const comparison = compare(filter, listing);
  return column.within ? sql`${sql.raw(column.within)} ${comparison})` : comparison;
}

function compare({ column, operator, values }: Filter, listing: Listing): Expression<SqlBool> {
  const left = sql.raw(column.sql ?? `${listing.from}.${column.name}`);
  const text = column.kind === 'text' ? left : sql`cast(${left} as text)`;
  // PostgreSQL would take a number for one of the column's size, and fail with one that is larger.
  const first = typeof values[0] === 'number' ? sql`cast(${values[0]} as bigint)` : sql`${values[0]}`;
  switch (operator) {
    case 'eq':
      return sql`${left} = ${first}`;
    case 'not':
      return sql`${left} <> ${first}`;
    case 'lk':
      return sql`${text} like ${first} escape '\\'`;
    case 'not-lk':
      return sql`${text} not like ${first} escape '\\'`;
    case 'in':
      return values.length > 0 ? sql`${left} in (${listOf(values)})` : sql`1 = 0`;
    case 'not-in':
      return values.length > 0 ? sql`${left} not in (${listOf(values)})` : sql`1 = 1`;
    case 'min':
      return sql`${left} >= ${first}`;
    case 'max':
      return sql`${left} <= ${first}`;
    case 'st':
      return sql`${left} < ${first}`;
    case 'gt':
      return sql`${left} > ${first}`;
    case 'bitwise-and':
      return sql`(${left} & ${first}) <> 0`;
  }
}

/** Numbers stand in the text itself, where they are of any size: a thousand parameters take longer to put together. */
const listOf = (values: Filter['values']): Expression<unknown> =>
  values.every((value) => Number.isSafeInteger(value)) ? sql.raw(values.join(', ')) : sql.join(values);

/** Any word counts, also by its beginning. The range form of a prefix uses the index on both databases. */
function fits({ words, likely = [] }: Pick<ListRequest, 'words' | 'likely'>): Expression<SqlBool> {
  return anyOf([...words.map(beginsWith), ...(likely.length > 0 ? [sql`w.word in (${sql.join(likely)})`] : [])]);
}

export const endOfRange = (prefix: string) => `${prefix}\u{10ffff}`;
const beginsWith = (word: string) => sql`(w.word >= ${word} and w.word < ${endOfRange(word)})`;

function matchesWords(listing: Listing, request: ListRequest): Expression<SqlBool> {
  const { table, key } = listing.words!;
  return sql`${sql.raw(`${listing.from}.id`)} in (select ${sql.raw(`w.${key}`)} from ${sql.raw(table)} w where ${fits(request)})`;
}

/** How well a row fits: two of the words, one whole, one by its beginning, and one mistyped. */
function fitOf(listing: Listing, request: ListRequest): Expression<unknown> {
  const { table, key } = listing.words!;
  const { words } = request;
  const pairs = pairsOf(words);
  const two = pairs.length > 0 ? sql`when w.word in (${sql.join(pairs)}) then 4` : sql``;
  return sql`(select max(case ${two} when w.word in (${sql.join(words)}) then 3
      when ${anyOf(words.map(beginsWith))} then 2 else 1 end)
    from ${sql.raw(table)} w where ${sql.raw(`w.${key} = ${listing.from}.id`)}
      and ${anyOf([fits(request), ...(pairs.length > 0 ? [sql`w.word in (${sql.join(pairs)})`] : [])])})`;
}

function anyOf(conditions: readonly Expression<unknown>[]): Expression<SqlBool> {
  return sql`(${sql.join(conditions, sql` or `)})`;
}
