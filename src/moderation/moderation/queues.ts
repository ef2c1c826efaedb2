import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { isSiteStaff } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Column, Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { isOfAuthors, LEVEL_TO_APPEAL, lockContent, type Moderated } from './content.ts';
import { listFiles } from './file-store.ts';
import { requireModerator } from './moderators.ts';
import { contentNow, lastSnapshot } from './snapshot-store.ts';
import { expectedAt } from './statistics.ts';
import * as store from './store.ts';

export type QueuedItem = Awaited<ReturnType<typeof store.list>>['rows'][number];

const integer = (sql: string): Column => ({ kind: 'integer', sql });

export const queueListing: Listing = {
  from: 'q',
  columns: {
    id: integer('q.id'),
    game_id: integer('q.game_id'),
    resource: { kind: 'text', sql: 'q.resource' },
    status: integer('q.status'),
    submitted_by: integer('q.submitted_by'),
    dmca: integer('q.dmca'),
    // 1 if the author has appealed against the last decision.
    appealed: integer(`(case when ${store.IS_APPEALED} then 1 else 0 end)`),
    // 0 if no moderator has claimed it.
    claimed_by: integer('coalesce(c.user_id, 0)'),
    date_added: integer('q.date_added'),
  },
  sorts: { id: 'q.id', date_added: 'q.date_added', date_updated: 'q.date_updated' },
};

export const fileListing: Listing = {
  from: 'f',
  columns: {
    id: integer('f.id'),
    game_id: integer('f.game_id'),
    mod_id: integer('f.mod_id'),
    platform: { kind: 'text', sql: 'p.platform' },
    submitted_by: integer('f.submitted_by'),
    date_added: integer('f.date_added'),
  },
  sorts: { id: 'f.id', date_added: 'f.date_added' },
};

/** Only site administrators see the queues of all games. */
function requireSiteStaff(caller: Caller): void {
  if (!isSiteStaff(caller)) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
}

export async function listQueueOfSite(app: App, caller: Caller, request: ListRequest) {
  requireSiteStaff(caller);
  return store.list(app.db, undefined, queueListing, request, app.clock.now());
}

export async function listPendingFilesOfSite(app: App, caller: Caller, request: ListRequest) {
  requireSiteStaff(caller);
  return listFiles(app.db, undefined, fileListing, request);
}

export async function listQueue(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireModerator(app.db, caller, gameId);
  return store.list(app.db, gameId, queueListing, request, app.clock.now());
}

export async function listPendingFiles(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireModerator(app.db, caller, gameId);
  return listFiles(app.db, gameId, fileListing, request);
}

/** The state of content, for its authors and moderators. */
export interface State {
  readonly status: number;
  readonly isDmca: boolean;
  readonly decision: store.DecisionRow | undefined;
  readonly place: number;
  readonly dateExpected: number;
}

export async function stateOf(
  app: App,
  caller: Caller,
  gameId: number,
  resource: Moderated,
  id: number,
): Promise<State> {
  await requireGame(app.db, caller, gameId);
  const found = await store.standingOf(app.db, resource, id);
  const isTheirs =
    found?.game_id === gameId &&
    ((await isOfAuthors(app.db, caller, { resource, id, authorId: found.submitted_by })) ||
      (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR);
  if (!isTheirs) throw new ApiError('MODERATION_NOT_FOUND');
  const place = await store.placeOf(app.db, gameId, resource, id);
  return {
    status: found.status,
    isDmca: found.dmca === 1,
    decision: await store.lastDecision(app.db, resource, id),
    place,
    dateExpected: await expectedAt(app, gameId, place),
  };
}

/** What has changed in content since the last decision on it, for moderators. */
export async function changesOf(app: App, caller: Caller, gameId: number, resource: Moderated, id: number) {
  await requireModerator(app.db, caller, gameId);
  const found = await store.standingOf(app.db, resource, id);
  if (found?.game_id !== gameId) throw new ApiError('MODERATION_NOT_FOUND');
  const before = await lastSnapshot(app.db, resource, id);
  const now = before && (await contentNow(app.db, resource, id));
  const changes = Object.entries(now ?? {})
    .filter(([field, text]) => text !== before!.fields[field])
    .map(([field, after]) => ({ field, before: before!.fields[field] ?? '', after }));
  return { decision: before?.action ?? '', dateDecided: before?.date_added ?? 0, changes };
}

const APPEALABLE = ['deny', 'delete', 'takedown'];

/**
 * Authors can appeal once per decision; in a team those who may edit the content. Denied content returns to the queue.
 */
export async function appeal(
  app: App,
  caller: UserCaller,
  gameId: number,
  { resource, id }: { resource: Moderated; id: number },
  text: string,
): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireGame(transaction, caller, gameId);
    const content = await lockContent(app, transaction, caller, { resource, gameId, id });
    if (!(await isOfAuthors(transaction, caller, content))) throw new ApiError('MODERATION_NOT_FOUND');
    if (!(await isOfAuthors(transaction, caller, content, LEVEL_TO_APPEAL)))
      throw new ApiError('MOD_NO_UPDATE_PERMISSION');
    const last = await store.lastDecision(transaction, resource, id);
    if (!last || !APPEALABLE.includes(last.action)) throw new ApiError('MODERATION_NOT_FOUND');
    if (await store.hasAppealed(transaction, resource, id)) throw new ApiError('MODERATION_ALREADY_ACTIONED');
    await store.appeal(transaction, last, text, app.clock.now());
  });
}
