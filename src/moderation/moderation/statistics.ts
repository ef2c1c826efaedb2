import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { countFiles } from './file-store.ts';
import { requireModerator } from './moderators.ts';
import * as stats from './stats-store.ts';
import * as store from './store.ts';

const HOUR = 3_600;
const DAY = 86_400;
const WEEK = 7 * DAY;
const DAYS_SHOWN = 30;
const MODERATORS_SHOWN = 50;

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
    files: await countFiles(db, gameId),
    reports: await stats.openReports(db, gameId),
    claimed: (await stats.claimsIn(db, gameId, now)).claimed,
    decidedDay: (await stats.decidedSince(db, gameId, now - DAY)).decided,
    decidedWeek: moderators.reduce((sum, { decided }) => sum + decided, 0),
    medianWait: await stats.medianWait(db, gameId, now - WEEK),
    days: await decidedByDay(app, gameId, now - (now % DAY)),
    moderators: moderators.slice(0, MODERATORS_SHOWN),
  };
}

async function decidedByDay({ db }: App, gameId: number, today: number) {
  const first = today - (DAYS_SHOWN - 1) * DAY;
  const decided = await stats.decidedByDay(db, gameId, first);
  return Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const day = first + index * DAY;
    const { approve = 0, restore = 0, deny = 0, delete: deleted = 0 } = decided.get(day) ?? {};
    return { day, approve: approve + restore, deny, delete: deleted };
  });
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
