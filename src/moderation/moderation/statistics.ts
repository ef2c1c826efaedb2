import { LRUCache } from 'lru-cache';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { UNDO_SECONDS } from './decisions.ts';
import { requireModerator } from './moderators.ts';
import * as stats from './stats-store.ts';
import * as store from './store.ts';

const HOUR = 3_600;
const DAY = 86_400;
const WEEK = 7 * DAY;
const DAYS_SHOWN = 30;
const MODERATORS_SHOWN = 50;
/** A month of some hundred games. */
const PAST_DAYS_KEPT = 10_000;

/** Content that waits at most this long counts in the age; the last one has no limit. */
const AGES = { hour: HOUR, day: DAY, week: WEEK, older: Number.POSITIVE_INFINITY } as const;

/** How much waits in a game, for how long, and how fast its moderators decide. */
export async function statisticsOf(app: App, caller: Caller, gameId: number) {
  await requireModerator(app.db, caller, gameId);
  const { db } = app;
  const now = app.clock.now();
  const waiting = await store.waitingByResource(db, gameId, now, Object.values(AGES).slice(0, -1));
  const total = (index: number) => waiting.reduce((sum, { upTo }) => sum + upTo[index]!, 0);
  const all = waiting.reduce((sum, { count }) => sum + count, 0);
  const [hour, day, week] = [total(0), total(1), total(2)];
  const moderators = await stats.decidedByModerator(db, gameId, now - WEEK);
  return {
    waiting: waiting.map(({ resource, count }) => ({ resource, count })),
    ages: { hour, day: day - hour, week: week - day, older: all - week },
    dateOldest: Math.min(...waiting.flatMap(({ oldest }) => oldest || [])),
    files: await store.countFiles(db, gameId),
    reports: await stats.openReports(db, gameId),
    claimed: (await stats.claimsIn(db, gameId, now)).claimed,
    decidedDay: (await stats.decidedSince(db, gameId, now - DAY)).decided,
    decidedWeek: moderators.reduce((sum, { decided }) => sum + decided, 0),
    medianWait: await stats.medianWait(db, gameId, now - WEEK),
    days: await decidedByDay(app, gameId, now - (now % DAY)),
    moderators: moderators.slice(0, MODERATORS_SHOWN),
  };
}

type Decided = Awaited<ReturnType<typeof stats.decidedIn>>;

/** Decisions of past days change no more, except by an import, so they are counted once an hour. */
const pastDays = new WeakMap<App, LRUCache<string, { readonly decided: Decided; readonly until: number }>>();

async function decidedOn(app: App, gameId: number, day: number): Promise<Decided> {
  const known = pastDays.get(app) ?? new LRUCache({ max: PAST_DAYS_KEPT });
  pastDays.set(app, known);
  const now = app.clock.now();
  const key = `${gameId}/${day}`;
  const found = known.get(key);
  if (found && found.until > now) return found.decided;
  const decided = await stats.decidedIn(app.db, gameId, day, day + DAY);
  if (day + DAY + UNDO_SECONDS < now) known.set(key, { decided, until: now + HOUR });
  return decided;
}

async function decidedByDay(app: App, gameId: number, today: number) {
  const days: ({ day: number } & Decided)[] = [];
  for (let day = today - (DAYS_SHOWN - 1) * DAY; day <= today; day += DAY)
    days.push({ day, ...(await decidedOn(app, gameId, day)) });
  return days;
}

/** When content at this position will be decided on at the pace of the last week; 0 if nothing was decided in it. */
export async function expectedAt(app: App, gameId: number, place: number): Promise<number> {
  if (place === 0) return 0;
  const now = app.clock.now();
  const { decided, first } = await stats.decidedSince(app.db, gameId, now - WEEK);
  if (decided === 0) return 0;
  // A team that began yesterday is not slow because it decided nothing before.
  const pace = Math.max(HOUR, now - first) / decided;
  return now + Math.round(place * pace);
}
