import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { ACCESS_SCOPE } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Changes } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { studioScope } from './outbox.ts';
import * as store from './store.ts';

export type { StudioEventRow } from './store.ts';

/** No more is read ahead of the listener. */
const AHEAD_MAX = 100;

const isInTeam = async (app: App, caller: Caller, gameId: number): Promise<boolean> =>
  (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR;

/** The events of a game behind the one that was heard last, or behind the newest; then those that come, as they come. */
export async function listenToGame(app: App, caller: UserCaller, gameId: number, lastHeard: number | undefined) {
  await requireGame(app.db, caller, gameId);
  if (!(await isInTeam(app, caller, gameId))) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  const after = lastHeard ?? (await store.newestEvent(app.db, gameId));
  return (signal: AbortSignal) => eventsAfter(app, caller, gameId, after, signal);
}

/** It ends with the signal, the token, or the place in the team. */
async function* eventsAfter(
  app: App,
  caller: UserCaller,
  gameId: number,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly store.StudioEventRow[]> {
  const news = new News(app.db.changes, studioScope(gameId), signal);
  try {
    for (let last = after; !signal.aborted; ) {
      // Asked before reading: what is committed meanwhile is news again.
      const next = news.next();
      if (app.clock.now() >= caller.dateExpires || !(await isInTeam(app, caller, gameId))) return;
      const events = await store.eventsAfter(app.db, gameId, last, AHEAD_MAX);
      if (events.length > 0) yield events;
      else await next;
      last = events.at(-1)?.id ?? last;
    }
  } finally {
    news.stop();
  }
}

/** Tells that there may be something to read; that it may have come more than once is of no interest. */
class News {
  #next = Promise.withResolvers<void>();
  readonly stop: () => void;

  constructor(changes: Changes, scope: string, signal: AbortSignal) {
    const tell = () => this.#next.resolve();
    const unlisten = changes.listen((changed) => {
      if (changed === undefined || changed === scope || changed === ACCESS_SCOPE) tell();
    });
    signal.addEventListener('abort', tell);
    this.stop = () => {
      unlisten();
      signal.removeEventListener('abort', tell);
    };
  }

  next(): Promise<void> {
    this.#next = Promise.withResolvers();
    return this.#next.promise;
  }
}
