import { setTimeout as pause } from 'node:timers/promises';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import { ACCESS_SCOPE } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import { News } from '../../platform/database/news.ts';
import { requireModerator } from './moderators.ts';
import * as stats from './stats-store.ts';
import * as store from './store.ts';

export interface QueueState {
  readonly waiting: number;
  readonly claimed: number;
  readonly reports: number;
}

/** Counting more would cost a busy game more than its moderators gain. */
const COUNTED_MAX = 1_000;
const PAUSE_MS = 1_000;

/** The states of a game's queue: the current one, then each that differs from the one before. */
export async function watchQueue(app: App, caller: UserCaller, gameId: number) {
  await requireModerator(app.db, caller, gameId);
  return (signal: AbortSignal) => statesOf(app, caller, gameId, signal);
}

/** Comments name what they are about, and not its game. */
const concernsQueue = (gameId: number) => (scope: string) =>
  scope === ACCESS_SCOPE || scope.startsWith(`games/${gameId}/`) || scope.endsWith('/comments');

/** Ends when the signal aborts, the token expires or the caller leaves the team. */
async function* statesOf(
  app: App,
  caller: UserCaller,
  gameId: number,
  signal: AbortSignal,
): AsyncGenerator<QueueState> {
  const news = new News(app.db.changes, concernsQueue(gameId), signal);
  try {
    for (let before = ''; !signal.aborted; ) {
      const next = news.next();
      if (app.clock.now() >= caller.dateExpires) return;
      if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR) return;
      const { mark, ...state } = await lookAt(app, gameId);
      if (mark !== before) yield state;
      before = mark;
      await next;
      await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    news.stop();
  }
}

async function lookAt({ db, clock }: App, gameId: number): Promise<QueueState & { readonly mark: string }> {
  const now = clock.now();
  const waiting = await store.countWaiting(db, gameId, COUNTED_MAX);
  const reports = await stats.openReports(db, gameId);
  const { claimed, expiries } = await stats.claimsIn(db, gameId, now);
  const decision = await stats.lastDecisionIn(db, gameId);
  return { waiting, claimed, reports, mark: [waiting, reports, claimed, expiries, decision].join(' ') };
}
