import { setTimeout as wait } from 'node:timers/promises';
import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { cooksScope } from '../../files/cooks/states.ts';
import { staffLevelOf } from '../../people/staff/staff.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import { ACCESS_SCOPE } from '../../platform/access/credentials.ts';
import { STAFF_LEVELS, staffLevel } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import { News } from '../../platform/database/news.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { JOBS_SCOPE } from '../../platform/jobs/jobs.ts';
import { deliveriesScope, studioScope } from '../../records/webhooks/outbox.ts';
import * as store from './store.ts';

/** The work in the background of a game that its dashboard shows. */
export const ACTIVITIES = ['cooks', 'deliveries'] as const;
export type Activity = (typeof ACTIVITIES)[number];

const SCOPES: Readonly<Record<Activity, (gameId: number) => readonly string[]>> = {
  cooks: (gameId) => [cooksScope(gameId)],
  deliveries: (gameId) => [studioScope(gameId), deliveriesScope(gameId)],
};

/** A page that is open should not cost more than one that is loaded now and then. */
const PAUSE_MS = 2_000;
const paused = (signal: AbortSignal, ms = PAUSE_MS) => wait(ms, undefined, { signal }).catch(() => undefined);

/** A turn now, and one after each change, for the team of a game. It reads nothing: the page does, if it is still open. */
export async function watchActivity(app: App, caller: UserCaller, gameId: number, activity: Activity) {
  await requireGame(app.db, caller, gameId);
  const mayWatch = async () => (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR;
  if (!(await mayWatch())) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  const scopes = SCOPES[activity](gameId);
  return (signal: AbortSignal) => turnsOf(app, caller, { scopes, mayWatch }, signal);
}

interface Watched {
  readonly scopes: readonly string[];
  readonly mayWatch: () => Promise<boolean>;
}

/** Ends when the signal aborts, the token expires or the caller loses the right to watch. */
async function* turnsOf(app: App, caller: UserCaller, { scopes, mayWatch }: Watched, signal: AbortSignal) {
  const concerns = (scope: string) => scope === ACCESS_SCOPE || scopes.includes(scope);
  const news = new News(app.db.changes, concerns, signal);
  try {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const next = news.next();
      if (app.clock.now() >= caller.dateExpires || !(await mayWatch())) return;
      yield turn;
      await next;
      await paused(signal);
    }
  } finally {
    news.stop();
  }
}

/** What waits for the staff. */
export type StaffState = store.StaffState;

/** Nothing announces that a job began or ended, so the state is also read now and then. */
const LOOK_MS = 5_000;

/** The states of the installation: the current one, then each that differs from the one before. */
export function watchInstallation(app: App, caller: UserCaller) {
  if (staffLevel(caller) < STAFF_LEVELS.administrator) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return (signal: AbortSignal) => statesOf(app, caller, signal);
}

async function* statesOf(app: App, caller: UserCaller, signal: AbortSignal): AsyncGenerator<StaffState> {
  const concerns = (scope: string) => scope === ACCESS_SCOPE || scope === JOBS_SCOPE || scope.endsWith('/reports');
  const news = new News(app.db.changes, concerns, signal);
  try {
    for (let before = ''; !signal.aborted; ) {
      const next = news.next();
      if (app.clock.now() >= caller.dateExpires) return;
      if ((await staffLevelOf(app.db, caller.userId)) < STAFF_LEVELS.administrator) return;
      const state = await store.staffState(app.db.query);
      if (JSON.stringify(state) !== before) yield state;
      before = JSON.stringify(state);
      await Promise.race([next, paused(signal, LOOK_MS)]);
      await paused(signal);
    }
  } finally {
    news.stop();
  }
}
