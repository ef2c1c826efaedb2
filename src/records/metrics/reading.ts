import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { DAY, dayOf, monthOf } from './counting.ts';
import * as store from './store.ts';

export type { ModPlace, Place, Ranked, Ranking } from './store.ts';

const DAYS_MAX = 366;
const DAYS_DEFAULT = 30;
const MONTHS_MAX = 36;
const MONTHS_DEFAULT = 12;
const RANKED_MAX = 100;

export interface Span {
  /** Dates such as `2026-11-15`, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const dayNamed = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1_000 / DAY;
const nameOfDay = (day: number): string => new Date(day * DAY * 1_000).toISOString().slice(0, 10);

export interface Day extends store.Counts {
  readonly date: string;
}

const NOTHING = Object.fromEntries(store.COUNTS.map((name) => [name, 0])) as store.Counts;

/** Every day of the span, including days without activity. */
export async function readDays(app: App, place: store.Place, span: Span): Promise<Day[]> {
  const { first, last } = daysIn(app, span);
  const known = new Map((await store.daysOf(app.db, place, first, last)).map((row) => [row.day, row]));
  return eachDay(first, last, (day) => countsIn(known.get(day)));
}

export interface ModDay extends store.ModCounts {
  readonly date: string;
}

/** Like `readDays`, of one mod. */
export async function readModDays(app: App, place: store.ModPlace, span: Span): Promise<ModDay[]> {
  const { first, last } = daysIn(app, span);
  const known = new Map((await store.modDaysOf(app.db, place, first, last)).map((row) => [row.day, row]));
  return eachDay(first, last, (day) => {
    const row = known.get(day);
    const counts = store.MOD_COUNTS.map((name) => [name, row?.[name] ?? 0]);
    return Object.fromEntries(counts) as store.ModCounts;
  });
}

function daysIn(app: App, { from, to }: Span): { first: number; last: number } {
  const last = to === undefined ? dayOf(app.clock.now()) : dayNamed(to);
  const first = from === undefined ? last - DAYS_DEFAULT + 1 : dayNamed(from);
  if (first > last || last - first >= DAYS_MAX)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'from', rule: 'invalid' }] });
  return { first, last };
}

const eachDay = <Counts>(first: number, last: number, countsOf: (day: number) => Counts) =>
  Array.from({ length: last - first + 1 }, (_, index) => ({
    date: nameOfDay(first + index),
    ...countsOf(first + index),
  }));

const countsIn = (row: store.Counts | undefined): store.Counts =>
  row === undefined ? NOTHING : (Object.fromEntries(store.COUNTS.map((name) => [name, row[name]])) as store.Counts);

const MONTHS = 12;
function monthNamed(name: string): number {
  const [year, month] = name.split('-').map(Number);
  return year! * MONTHS + month! - 1;
}
const nameOfMonth = (month: number): string =>
  `${String(Math.floor(month / MONTHS)).padStart(4, '0')}-${String((month % MONTHS) + 1).padStart(2, '0')}`;

export interface Month extends store.Counts {
  readonly month: string;
}

/** Every month of the span. A user counts once in a month, regardless of the number of active days. */
export async function readMonths(app: App, place: store.Place, { from, to }: Span): Promise<Month[]> {
  const last = to === undefined ? monthOf(app.clock.now()) : monthNamed(to);
  const first = from === undefined ? last - MONTHS_DEFAULT + 1 : monthNamed(from);
  if (first > last || last - first >= MONTHS_MAX)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'from', rule: 'invalid' }] });
  const known = new Map((await store.monthsOf(app.db, place, first, last)).map((row) => [row.month, row]));
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    month: nameOfMonth(first + index),
    ...countsIn(known.get(first + index)),
  }));
}

/** The mods with the most downloads in a month, or their creators. */
export async function readTop(
  app: App,
  place: store.Place,
  ranking: store.Ranking,
  month: string | undefined,
): Promise<store.Ranked[]> {
  const which = month === undefined ? monthOf(app.clock.now()) : monthNamed(month);
  return store.top(app.db, ranking, place, { month: which, most: RANKED_MAX });
}
