import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { ACCESS_SCOPE } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Changes } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import {
  newestStudioEvent,
  type StudioEventRow,
  studioEventsAfter,
  studioScope,
} from '../../records/webhooks/outbox.ts';

/** The maximum number of events that are read before the client takes them. */
const AHEAD_MAX = 100;

const isInTeam = async (app: App, caller: Caller, gameId: number): Promise<boolean> =>
  (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR;

/** Streams the events of a game after the given id, or from now on. */
export async function streamEvents(app: App, caller: UserCaller, gameId: number, lastHeard: number | undefined) {
  await requireGame(app.db, caller, gameId);
  if (!(await isInTeam(app, caller, gameId))) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  const after = lastHeard ?? (await newestStudioEvent(app.db, gameId));
  return (signal: AbortSignal) => eventsAfter(app, caller, gameId, after, signal);
}

/** Ends when the signal aborts, the token expires or the caller leaves the team. */
async function* eventsAfter(
  app: App,
  caller: UserCaller,
  gameId: number,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly StudioEventRow[]> {
  const news = new News(app.db.changes, studioScope(gameId), signal);
  try {
    for (let last = after; !signal.aborted; ) {
      // Subscribed before reading, so that a commit in between wakes the loop again.
      const next = news.next();
      if (app.clock.now() >= caller.dateExpires || !(await isInTeam(app, caller, gameId))) return;
      const events = await studioEventsAfter(app.db, gameId, last, AHEAD_MAX);
      if (events.length > 0) yield events;
      else await next;
      last = events.at(-1)?.id ?? last;
    }
  } finally {
    news.stop();
  }
}

/** Resolves when there may be something to read. Several changes can share one wake-up. */
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
