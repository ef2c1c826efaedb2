import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { DAY, dayOf, monthOf, spansOf } from './pieces.ts';
import * as store from './store.ts';

export type { Place, Ranked, Ranking } from './store.ts';

const DAYS_MAX = 366;
const DAYS_USUAL = 30;
const MONTHS_MAX = 36;
const MONTHS_USUAL = 12;
const RANKED_MAX = 100;
const KEPT_DAYS = 3;

async function requireTeam(app: App, caller: Caller, gameId: number): Promise<void> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

export interface Span {
  /** Dates as `2026-11-15`, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const dayNamed = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1_000 / DAY;
const nameOfDay = (day: number): string => new Date(day * DAY * 1_000).toISOString().slice(0, 10);

export interface Day extends store.Counts {
  readonly date: string;
}

const NOTHING = Object.fromEntries(store.COUNTS.map((name) => [name, 0])) as store.Counts;

/** Every day of the span, also those on which nothing happened. */
export async function daysOf(app: App, caller: Caller, place: store.Place, { from, to }: Span): Promise<Day[]> {
  await requireTeam(app, caller, place.gameId);
  const last = to === undefined ? dayOf(app.clock.now()) : dayNamed(to);
  const first = from === undefined ? last - DAYS_USUAL + 1 : dayNamed(from);
  if (first > last || last - first >= DAYS_MAX)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'from', rule: 'invalid' }] });
  const known = new Map((await store.daysOf(app.db, place, first, last)).map((row) => [row.day, row]));
  return Array.from({ length: last - first + 1 }, (_, index) => {
    return { date: nameOfDay(first + index), ...countsIn(known.get(first + index)) };
  });
}

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

/** Every month of the span. People count once in a month, however many of its days they were active on. */
export async function monthsOf(app: App, caller: Caller, place: store.Place, { from, to }: Span): Promise<Month[]> {
  await requireTeam(app, caller, place.gameId);
  const last = to === undefined ? monthOf(app.clock.now()) : monthNamed(to);
  const first = from === undefined ? last - MONTHS_USUAL + 1 : monthNamed(from);
  if (first > last || last - first >= MONTHS_MAX)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'from', rule: 'invalid' }] });
  const known = new Map((await store.monthsOf(app.db, place, first, last)).map((row) => [row.month, row]));
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    month: nameOfMonth(first + index),
    ...countsIn(known.get(first + index)),
  }));
}

/** What was downloaded most in a month, and whose mods were. */
export async function topOf(
  app: App,
  caller: Caller,
  place: store.Place,
  ranking: store.Ranking,
  month: string | undefined,
): Promise<store.Ranked[]> {
  await requireTeam(app, caller, place.gameId);
  const which = month === undefined ? monthOf(app.clock.now()) : monthNamed(month);
  return store.top(app.db, ranking, place, { month: which, most: RANKED_MAX });
}

/** What was kept only to count nothing twice. Reports of so long ago are refused for their date. */
export async function forgetOld(app: App): Promise<void> {
  const second = app.clock.now() - KEPT_DAYS * DAY;
  await app.db.write((transaction) => store.forgetBefore(transaction, { ...spansOf(second), second }));
}
