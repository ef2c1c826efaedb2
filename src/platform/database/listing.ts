import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from './database.ts';
import { MAY_SCAN } from './may-scan.ts';
import { pairsOf } from './words.ts';

export { fold } from './words.ts';

/** A filterable column, by its published name. */
export interface Column {
  readonly kind: 'integer' | 'text' | 'set';
  /**
   * The SQL expression; defaults to the published name. For text it is a folded column, for a set the start of a
   * subquery for row ids that ends with the member column.
   */
  readonly sql?: string;
  /** The start of a condition around the comparison, for a column of another table. */
  readonly within?: string;
  /** Values that do not filter. */
  readonly anything?: readonly number[];
  /** For a set: the same condition on the current row. */
  readonly probe?: string;
  /** Members are compared exactly, not folded. */
  readonly exact?: boolean;
  /** Folded words that stand for numbers. */
  readonly names?: Readonly<Record<string, number>>;
}

/** The filters, sorts and search of one list. Built once per resource. */
export interface Listing {
  /** The table's name or alias, for `id` as the last sort key. */
  readonly from: string;
  /** The column of the row's game, if it is not `game_id`. */
  readonly game?: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** Published sort names and the expressions behind them. */
  readonly sorts: Readonly<Record<string, string>>;
  /** Sort names that are descending, and ascending with `-` (docs/API-QUIRKS.md). */
  readonly largestFirst?: readonly string[];
  /**
   * The direction of an index on the expression in which its `id` ascends. Ties then follow the index and need no sort;
   * without it `id` always ascends.
   */
  readonly indexed?: Readonly<Record<string, 'asc' | 'desc'>>;
  /** The word table for `_q` and its row id column. */
  readonly words?: { readonly table: string; readonly key: string };
  /** Breaks ties between equally good matches of `_q`, descending. */
  readonly popularity?: string;
}

export const OPERATORS = ['not', 'lk', 'not-lk', 'in', 'not-in', 'min', 'max', 'st', 'gt', 'bitwise-and'] as const;
export type Operator = 'eq' | (typeof OPERATORS)[number];

export interface Filter {
  readonly column: Column & { readonly name: string };
  readonly operator: Operator;
  readonly values: readonly (string | number)[];
}

/** The name of the request parameter. */
export const parameterOf = ({ column, operator }: Filter): string =>
  operator === 'eq' ? column.name : `${column.name}-${operator}`;

export interface ListRequest {
  /** All groups must match; within a group one filter is enough. */
  readonly groups: readonly (readonly Filter[])[];
  readonly words: readonly string[];
  /** Likely corrections of mistyped words. */
  readonly likely?: readonly string[];
  /** Most rows match, so rows are tested in list order until the page is full. */
  readonly probing?: boolean;
  readonly sort: { readonly sql: string; readonly descending: boolean; readonly idDescending?: boolean } | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Rows before the page are skipped one by one. */
const SKIPPED_MAX = 1_000;

/** True when no index leads directly to the page's rows. */
export function mayScan(listing: Listing, { groups, words, sort, offset }: ListRequest): boolean {
  const isSorted = sort !== undefined && listing.indexed?.[sort.sql] === undefined;
  return groups.length > 0 || words.length > 0 || isSorted || offset >= SKIPPED_MAX;
}

// biome-ignore lint/suspicious/noExplicitAny: the one general builder over every resource's query
type AnySelect = SelectQueryBuilder<Tables, any, any>;

/** Applies the request's filters; the resource has already applied visibility. */
export function narrowed<S>(select: S, listing: Listing, request: ListRequest): S {
  let query = select as unknown as AnySelect;
  if (mayScan(listing, request)) query = query.where(sql.raw<SqlBool>(MAY_SCAN));
  for (const group of request.groups)
    query = query.where(anyOf(group.map((filter) => condition(filter, listing, request))));
  if (request.words.length > 0 && listing.words) query = query.where(matchesWords(listing, request));
  return query as unknown as S;
}

/**
 * Sorts and pages. `id` breaks ties, so that pages neither repeat nor miss a row; matches of `_q` are sorted by
 * relevance unless another order is requested.
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

/** Without an operator a row must have all members, with `-in` any, with `-not` and `-not-in` none. */
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

/** Whether every row passes the filter. */
export const matchesAnything = ({ column, operator, values }: Filter): boolean =>
  operator === 'eq' && (column.anything?.includes(Number(values[0])) ?? false);

function condition(filter: Filter, listing: Listing, { probing = false }: ListRequest): Expression<SqlBool> {
  const { column } = filter;
  if (column.kind === 'set') return membership(filter, listing, probing);
  if (matchesAnything(filter)) return sql`1 = 1`;
  const comparison = compare(filter, listing);
  return column.within ? sql`${sql.raw(column.within)} ${comparison})` : comparison;
}

function compare({ column, operator, values }: Filter, listing: Listing): Expression<SqlBool> {
  const left = sql.raw(column.sql ?? `${listing.from}.${column.name}`);
  const text = column.kind === 'text' ? left : sql`cast(${left} as text)`;
  // PostgreSQL would use the column's type and fail with larger numbers.
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

/** Numbers are inlined, because binding a thousand parameters is slower. */
const listOf = (values: Filter['values']): Expression<unknown> =>
  values.every((value) => Number.isSafeInteger(value)) ? sql.raw(values.join(', ')) : sql.join(values);

/** Matches any word by prefix. The range form of a prefix uses the index on both databases. */
function fits({ words, likely = [] }: Pick<ListRequest, 'words' | 'likely'>): Expression<SqlBool> {
  return anyOf([...words.map(beginsWith), ...(likely.length > 0 ? [sql`w.word in (${sql.join(likely)})`] : [])]);
}

export const endOfRange = (prefix: string) => `${prefix}\u{10ffff}`;
const beginsWith = (word: string) => sql`(w.word >= ${word} and w.word < ${endOfRange(word)})`;

function matchesWords(listing: Listing, request: ListRequest): Expression<SqlBool> {
  const { table, key } = listing.words!;
  return sql`${sql.raw(`${listing.from}.id`)} in (select ${sql.raw(`w.${key}`)} from ${sql.raw(table)} w where ${fits(request)})`;
}

/** Relevance: a pair of words, then a whole word, then a prefix, then a typo. */
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
