import {
  type Column,
  type Filter,
  fold,
  type Listing,
  type ListRequest,
  OPERATORS,
  type Operator,
} from '../../database/listing.ts';
import { queryWords } from '../../database/words.ts';
import { ApiError, type FieldProblem } from '../../errors/catalogue.ts';
import type { Fields, FieldValue } from './forms.ts';

export const PAGE_MAX = 100;
const OFFSET_MAX = Number.MAX_SAFE_INTEGER;
const FILTERS_MAX = 50;
/** Per filter, and for all filters together. */
const VALUES_MAX = 1000;
const VALUE_LENGTH_MAX = 1_000;
/** A pattern's cost per row grows with its length and its wildcards. */
const PATTERN_LENGTH_MAX = 250;
const WILDCARDS_MAX = 10;
/** Each required member of a set is a separate condition. */
const MEMBERS_MAX = 100;
const SEARCH_WORDS_MAX = 16;
const SEARCH_LENGTH_MAX = 1_000;
const OR_GROUPS_MAX = 2;
const OR_FIELDS_MAX = 3;

/** Parsed lists of cached queries. */
const known = new WeakMap<Listing, WeakMap<Fields, ListRequest>>();

/**
 * Parses filters, search, order and page of a list. Unknown columns and sorts are ignored; invalid values are errors.
 */
export function readList(listing: Listing, query: Fields): ListRequest {
  const before = known.get(listing)?.get(query);
  if (before) return before;
  const request = Object.freeze(readAnew(listing, query));
  const requests = known.get(listing) ?? new WeakMap<Fields, ListRequest>();
  if (Object.isFrozen(query)) known.set(listing, requests.set(query, request));
  return request;
}

function readAnew(listing: Listing, query: Fields): ListRequest {
  const problems: FieldProblem[] = [];
  const filters = readFilters(listing, query, problems);
  const request: ListRequest = {
    groups: grouped(filters, readOrGroups(query, problems)),
    words: listing.words ? readWords(query, problems) : [],
    sort: readSort(listing, textOf(query['_sort'])),
    limit: Math.min(readCount(query, '_limit', 1, PAGE_MAX, problems), PAGE_MAX),
    offset: readCount(query, '_offset', 0, 0, problems),
  };
  if (problems.length > 0) throw new ApiError('VALIDATION_GENERIC', { fields: problems });
  return request;
}

function readWords(query: Fields, problems: FieldProblem[]): string[] {
  const text = textOf(query['_q']) ?? '';
  if (text.length <= SEARCH_LENGTH_MAX) return queryWords(text, SEARCH_WORDS_MAX);
  problems.push({ field: '_q', rule: 'string_max', values: { max: SEARCH_LENGTH_MAX } });
  return [];
}

function readFilters(listing: Listing, query: Fields, problems: FieldProblem[]): Map<string, Filter> {
  const filters = new Map<string, Filter>();
  let valuesLeft = VALUES_MAX + FILTERS_MAX;
  for (const [parameter, value] of Object.entries(query)) {
    const named = columnOf(listing, parameter);
    if (!named) continue;
    const { values, problem } = readValues(parameter, named, value);
    valuesLeft -= values.length;
    const refused = problem ?? problemOfAll(parameter, filters.size + problems.length, valuesLeft);
    if (refused) problems.push(refused);
    else filters.set(parameter, { ...named, values });
  }
  return filters;
}

type Named = Pick<Filter, 'column' | 'operator'>;

function readValues(
  field: string,
  named: Named,
  value: FieldValue,
): Pick<Filter, 'values'> & { problem?: FieldProblem } {
  const numbers = plainNumbers(named, value);
  if (numbers) return { values: numbers, problem: problemOfCount(field, named, numbers.length) };
  const texts = valuesOf(named.column, named.operator, value);
  const problem = problemOfCount(field, named, texts.length) ?? problemOf(field, named, texts);
  return problem ? { values: texts, problem } : { values: texts.map((text) => valueFor(named, text)) };
}

const PLAIN_NUMBERS = /^(?:0|[1-9]\d{0,14})(?:,(?:0|[1-9]\d{0,14}))*$/;

/** Launchers name hundreds of ids: looking at each of them took a tenth of the request. */
function plainNumbers({ column, operator }: Named, value: FieldValue): number[] | undefined {
  const isList = column.kind === 'integer' && (operator === 'in' || operator === 'not-in');
  const isPlain = isList && !column.names && typeof value === 'string' && PLAIN_NUMBERS.test(value);
  return isPlain ? JSON.parse(`[${value}]`) : undefined;
}

function columnOf(
  listing: Listing,
  parameter: string,
): { column: Column & { name: string }; operator: Operator } | undefined {
  const exact = listing.columns[parameter];
  if (exact && Object.hasOwn(listing.columns, parameter))
    return { column: { ...exact, name: parameter }, operator: 'eq' };
  for (const operator of BY_LENGTH) {
    if (!parameter.endsWith(`-${operator}`)) continue;
    const name = parameter.slice(0, -operator.length - 1);
    const column = Object.hasOwn(listing.columns, name) ? listing.columns[name] : undefined;
    return column && suits(operator, column) ? { column: { ...column, name }, operator } : undefined;
  }
  return undefined;
}

/** Longer names first: `-not-in` ends in `-in`. */
const BY_LENGTH = [...OPERATORS].sort((a, b) => b.length - a.length);

function suits(operator: Operator, { kind }: Column): boolean {
  if (kind === 'set') return ['not', 'in', 'not-in'].includes(operator);
  return operator !== 'bitwise-and' || kind === 'integer';
}

function valuesOf({ names, ...column }: Column, operator: Operator, value: FieldValue): string[] {
  const texts = textsOf(column, operator, value);
  return names ? texts.map((text) => String(names[fold(text)] ?? text)) : texts;
}

function textsOf({ kind }: Column, operator: Operator, value: FieldValue): string[] {
  const texts = Array.isArray(value) ? value.map((item) => textOf(item) ?? '') : [textOf(value) ?? ''];
  if (kind !== 'set' && operator !== 'in' && operator !== 'not-in') return [texts.at(-1) ?? ''];
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function problemOfCount(field: string, { column, operator }: Named, count: number): FieldProblem | undefined {
  const max = column.kind === 'set' && operator === 'eq' ? MEMBERS_MAX : VALUES_MAX;
  return count > max ? { field, rule: 'filter_values_max', values: { max } } : undefined;
}

function problemOf(field: string, { column, operator }: Named, values: readonly string[]): FieldProblem | undefined {
  const longest = isPattern(operator) ? PATTERN_LENGTH_MAX : VALUE_LENGTH_MAX;
  if (values.some(({ length }) => length > longest)) return { field, rule: 'string_max', values: { max: longest } };
  if (isPattern(operator) && wildcardsIn(values[0]!) > WILDCARDS_MAX)
    return { field, rule: 'filter_wildcards_max', values: { max: WILDCARDS_MAX } };
  const isSuitable = isPattern(operator) ? isDigits : isInteger;
  if (column.kind === 'integer' && !values.every(isSuitable)) return { field, rule: 'integer' };
  return undefined;
}

/** Checks a filter against the total limits. */
function problemOfAll(field: string, filters: number, valuesLeft: number): FieldProblem | undefined {
  if (filters >= FILTERS_MAX) return { field, rule: 'filters_max', values: { max: FILTERS_MAX } };
  if (valuesLeft < 0) return { field, rule: 'filter_values_max', values: { max: VALUES_MAX } };
  return undefined;
}

const isPattern = (operator: Operator): boolean => operator === 'lk' || operator === 'not-lk';
const WILDCARDS = /\*+/g;
const wildcardsIn = (text: string): number => text.match(WILDCARDS)?.length ?? 0;

/** A number with optional wildcards. */
const isDigits = (text: string) => /^-?[\d*]{1,32}$/.test(text);
const isInteger = (text: string) => /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));

function valueFor({ column, operator }: Named, text: string): string | number {
  if (column.exact) return text;
  if (isPattern(operator)) return likePattern(text);
  return column.kind === 'integer' ? Number(text) : fold(text);
}

function likePattern(text: string): string {
  return fold(text)
    .replace(/[\\%_]/g, '\\$&')
    .replace(WILDCARDS, '%');
}

function readOrGroups(query: Fields, problems: FieldProblem[]): string[][] {
  const value = query['or_fields'];
  if (value === undefined) return [];
  const groups = (Array.isArray(value) ? value : [value]).map((item) =>
    (textOf(item) ?? '').split(',').map((name) => name.trim()),
  );
  if (groups.length > OR_GROUPS_MAX)
    problems.push({ field: 'or_fields', rule: 'array_max', values: { max: OR_GROUPS_MAX } });
  else if (groups.some((group) => group.length > OR_FIELDS_MAX))
    problems.push({ field: 'or_fields', rule: 'array_max', values: { max: OR_FIELDS_MAX } });
  return groups;
}

/** A field may be named with or without its operator; the first matching group takes the filter. */
function grouped(filters: ReadonlyMap<string, Filter>, orGroups: readonly string[][]): Filter[][] {
  const left = new Map(filters);
  const groups: Filter[][] = [];
  for (const names of orGroups) {
    const group = [...left].filter(
      ([parameter, { column }]) => names.includes(parameter) || names.includes(column.name),
    );
    for (const [parameter] of group) left.delete(parameter);
    if (group.length > 0) groups.push(group.map(([, filter]) => filter));
  }
  return [...groups, ...[...left.values()].map((filter) => [filter])];
}

function readSort(listing: Listing, text: string | undefined): ListRequest['sort'] {
  const isMinus = text?.startsWith('-') ?? false;
  const name = isMinus ? text!.slice(1) : (text ?? '');
  const sql = Object.hasOwn(listing.sorts, name) ? listing.sorts[name] : undefined;
  if (!sql) return undefined;
  const descending = isMinus !== (listing.largestFirst?.includes(name) ?? false);
  const index = listing.indexed?.[sql];
  return { sql, descending, idDescending: index !== undefined && descending !== (index === 'desc') };
}

function readCount(query: Fields, field: string, min: number, fallback: number, problems: FieldProblem[]): number {
  const text = textOf(query[field]);
  if (text === undefined || text === '') return fallback;
  const number = Number(text);
  if (!isInteger(text)) problems.push({ field, rule: 'integer' });
  else if (number < min) problems.push({ field, rule: 'number_min', values: { min } });
  else return Math.min(number, OFFSET_MAX);
  return fallback;
}

function textOf(value: FieldValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}
