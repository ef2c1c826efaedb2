import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { ACCESS_SCOPE } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import { News } from '../../platform/database/news.ts';
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
  const scopes = [studioScope(gameId), ACCESS_SCOPE];
  const news = new News(app.db.changes, (scope) => scopes.includes(scope), signal);
  try {
    for (let last = after; !signal.aborted; ) {
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
