import { isPublic as isPublicMod, modDocuments, requireMod, type StoredMod } from '../../catalogue/mods/mods.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { requireUser } from '../../people/users/users.ts';
import { type Caller, modReachOf, muterOf, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { withLikelyWords } from '../../platform/database/search.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import { asks, GAME_COLLECTIONS, hasCollections, invalidateCollection, isPublic, requireCollection } from './access.ts';
import { collectionListing, collectionModListing } from './listing.ts';
import { firstRecentDay } from './ratings.ts';
import * as store from './store.ts';

export * from './access.ts';
export type { CollectionRow } from './store.ts';

/** A collection with everything that its object contains. */
export interface ShownCollection {
  readonly collection: store.CollectionView;
  readonly submitter: store.SubmitterRow;
  readonly contents: store.Contents | undefined;
}

export interface ListedCollections {
  readonly collections: ShownCollection[];
  readonly total: number;
}

async function whole(query: Query, views: readonly store.CollectionView[]): Promise<ShownCollection[]> {
  const contents = await store.contentsOf(
    query,
    views.map(({ id }) => id),
  );
  const submitters = await store.submittersOf(query, [...new Set(views.map(({ submitted_by }) => submitted_by))]);
  return views.map((collection) => ({
    collection,
    submitter: submitters.get(collection.submitted_by)!,
    contents: contents.get(collection.id),
  }));
}

/** Within a transaction this reads its own changes. */
export async function showCollection(app: App, { query }: Pick<Transaction, 'query'>, id: number) {
  const [shown] = await whole(query, [await store.viewOf(query, id, firstRecentDay(app))]);
  return shown!;
}

export async function requireShownCollection(app: App, caller: Caller, gameId: number, id: number) {
  await requireCollection(app.db, caller, gameId, id);
  return showCollection(app, app.db, id);
}

async function listed(
  app: App,
  scope: Omit<store.CollectionScope, 'asksStatus' | 'asksVisible' | 'gameBit'>,
  request: ListRequest,
): Promise<ListedCollections> {
  const asked = { ...scope, ...asks(request), gameBit: GAME_COLLECTIONS };
  const { query } = app.db;
  const spelled = await withLikelyWords(app.db, request);
  const { collections, total } = await store.list(query, asked, collectionListing, spelled, firstRecentDay(app));
  return { collections: await whole(query, collections), total };
}

export async function countCommentsOfCollection(
  transaction: Transaction,
  collection: Pick<store.CollectionRow, 'id' | 'game_id'>,
  difference: number,
): Promise<void> {
  await store.count(transaction, collection.id, { comments_total: difference });
  invalidateCollection(transaction, collection);
}

const NONE: ListedCollections = { collections: [], total: 0 };

/**
 * The public collections of a game. Filters by state also find the caller’s own, and for the game’s team all of them.
 */
export async function listCollectionsOfGame(
  app: App,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  modId: number | undefined,
): Promise<ListedCollections> {
  if (!(await hasCollections(app.db, caller, gameId))) return NONE;
  const { asksStatus, asksVisible } = asks(request);
  const asksMore = asksStatus || asksVisible;
  const everything = asksMore && (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR;
  const ownId = asksMore && caller.kind === 'user' ? caller.userId : undefined;
  // The game’s team sees the collections of muted users, because it moderates them.
  const muterId = everything ? undefined : muterOf(caller);
  return listed(app, { gameId, modId, everything, ownId, muterId }, request);
}

/**
 * Whether every caller of a visibility class gets the same list. The caller’s own hidden collections make it personal.
 */
export const isSameForAll = (request: ListRequest): boolean => {
  const { asksStatus, asksVisible } = asks(request);
  return !asksStatus && !asksVisible;
};

export async function listCollectionsOfMod(
  app: App,
  caller: Caller,
  gameId: number,
  modId: number,
  request: ListRequest,
): Promise<ListedCollections & { isForAll: boolean }> {
  const mod = await requireMod(app.db, caller, gameId, modId);
  return { ...(await listed(app, { gameId, modId, muterId: muterOf(caller) }, request)), isForAll: isPublicMod(mod) };
}

export const listOwnCollections = (app: App, { userId }: UserCaller, request: ListRequest) =>
  listed(app, { submitterId: userId, ownOnly: true }, request);

export const listFollowedCollections = (app: App, caller: UserCaller, request: ListRequest) =>
  listed(app, { followerId: caller.userId, tokenGameId: caller.gameId, muterId: muterOf(caller) }, request);

export async function listCollectionsOfUser(app: App, caller: UserCaller, userId: number, request: ListRequest) {
  await requireUser(app, userId);
  return listed(app, { submitterId: userId, tokenGameId: caller.gameId, muterId: muterOf(caller) }, request);
}

/** The mods of a collection. Hidden ones are included on request, for callers who may see them. */
export async function listModsOfCollection(
  app: App,
  caller: Caller,
  { gameId, id, showHidden }: { gameId: number; id: number; showHidden: boolean },
  request: ListRequest,
  language: Language,
  platform: Platform | undefined,
): Promise<{ mods: StoredMod[]; total: number; isForAll: boolean }> {
  const collection = await requireCollection(app.db, caller, gameId, id);
  const hidden = showHidden
    ? {
        everything: (await teamLevel(app.db, caller, 'games', gameId)) >= MODERATOR,
        memberId: caller.kind === 'user' && caller.inTeams ? caller.userId : undefined,
      }
    : undefined;
  const muterId = hidden?.everything ? undefined : muterOf(caller);
  const scope = { collectionId: id, hidden, platform, muterId, reach: modReachOf(caller) };
  const { ids, total } = await store.listMods(app.db.query, scope, collectionModListing, request);
  const documents = await modDocuments(app, ids, language, platform);
  return { mods: ids.flatMap((modId) => documents.get(modId) ?? []), total, isForAll: isPublic(collection) };
}
