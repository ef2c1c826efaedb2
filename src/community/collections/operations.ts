import { z } from 'zod';
import { linksChangeAt } from '../../catalogue/live-files/links.ts';
import { ModObject, modJson } from '../../catalogue/mods/object.ts';
import { contentReader, reader, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import {
  GamePath,
  Id,
  Integer,
  ModPath,
  PathId,
  page,
  pageOf,
  pageOfJson,
  UserPath,
} from '../../platform/http/objects.ts';
import {
  Created,
  created,
  createdOrThere,
  type Input,
  noContent,
  ok,
  operation,
} from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { CollectionChangesBody, CollectionFilters, NewCollectionBody } from './changes.ts';
import {
  isPublic,
  isSameForAll,
  type ListedCollections,
  listCollectionsOfGame,
  listCollectionsOfMod,
  listCollectionsOfUser,
  listFollowedCollections,
  listModsOfCollection,
  listOwnCollections,
  requireShownCollection,
  type ShownCollection,
} from './collections.ts';
import {
  addCollection,
  deleteCollection,
  deleteCollectionForEver,
  removeModsFromCollection,
  updateCollection,
} from './editing.ts';
import { followCollection, unfollowCollection } from './following.ts';
import { collectionListing, collectionModListing } from './listing.ts';
import { ModCollectionObject, toModCollection } from './object.ts';
import { rateCollection, ratingsAgeAt } from './ratings.ts';
import { subscribeToMods, unsubscribeFromMods } from './subscribing.ts';

const CollectionPath = GamePath.extend({ collection_id: PathId });
const LOGO = { bytesMax: 8 * 1_024 * 1_024, says: 'PNG, JPEG, GIF or WebP of at least 512 by 288 pixels.' };
const MODS_AT_ONCE_MAX = 10_000;

const GAME = ['GAME_NOT_FOUND', 'GAME_DELETED'] as const;
const MODS_REFUSED = [
  'COLLECTIONS_MOD_NOT_PUBLIC',
  'COLLECTIONS_MOD_MUST_BE_SAME_GAME',
  'COLLECTIONS_MOD_MUST_BE_FREE',
  'COLLECTIONS_MODS_NOT_FOUND',
  'COLLECTIONS_MOD_MUST_HAVE_NO_DEPENDENCIES',
  'COLLECTIONS_NOT_ENOUGH_PUBLIC_MODS',
  'COLLECTIONS_MOD_DISALLOWED',
  'COLLECTIONS_MIN_MODS_EXCEEDS_LIMIT',
] as const;

const pageOfCollections = (
  app: App,
  { collections, total }: ListedCollections,
  { list, portal }: Pick<Input<unknown, unknown, unknown>, 'list' | 'portal'>,
) =>
  page(
    collections.map((each) => toModCollection(app, each, portal)),
    total,
    list,
  );

/** The scopes of a list of a game’s collections. */
const scopesOfLists = (gameId: number) =>
  [`games/${gameId}/collections`, `games/${gameId}/mods`, `games/${gameId}`, 'users'] as const;

const addressOf = (app: App, { collection }: ShownCollection) =>
  `${app.addresses.gameApi(collection.game_id)}/games/${collection.game_id}/collections/${collection.id}`;

export const getModCollections = operation({
  id: 'get-mod-collections',
  tag: 'Collections',
  method: 'GET',
  path: '/games/{game_id}/collections',
  says: 'Lists the public collections of a game. Filters by `status` and `visible` also find the caller’s own that are not public, and for the game’s team all of them.',
  access: reader(),
  params: GamePath,
  query: z.object({ mod_id: Id.optional().meta({ description: 'Only collections that show this mod.' }) }),
  body: CollectionFilters,
  list: collectionListing,
  returns: ok(pageOf(ModCollectionObject)),
  errors: GAME,
  handle: async (app, { caller, params, body, list, cache, cacheUntil, portal }) => {
    const listed = await listCollectionsOfGame(app, caller, params.game_id, list, body.mod_id);
    if (isSameForAll(list)) cache(...scopesOfLists(params.game_id));
    cacheUntil(ratingsAgeAt(app.clock.now()));
    return pageOfCollections(app, listed, { list, portal });
  },
});

export const addCollectionOperation = operation({
  id: 'add-collection',
  tag: 'Collections',
  method: 'POST',
  path: '/games/{game_id}/collections',
  says: 'Adds a collection of mods to a game that has collections. A public collection has at least one public mod.',
  access: user('write'),
  params: GamePath,
  body: NewCollectionBody,
  files: { logo: LOGO },
  once: true,
  returns: created(ModCollectionObject),
  errors: [
    ...GAME,
    'COLLECTIONS_NO_ADD_PERMISSION',
    ...MODS_REFUSED,
    'COLLECTION_TAGS_NO_ADD_LOCKED_PERMISSION',
    'USER_NOT_FOUND',
  ],
  handle: async (app, { caller, params, body, files, portal }) => {
    const shown = await addCollection(app, caller, params.game_id, { fields: body, logo: files['logo'] });
    return new Created(toModCollection(app, shown, portal), addressOf(app, shown));
  },
});

export const getModCollection = operation({
  id: 'get-mod-collection',
  tag: 'Collections',
  method: 'GET',
  path: '/games/{game_id}/collections/{collection_id}',
  says: 'Shows one collection. Only its submitter and the game’s team see one that is hidden, not accepted or deleted.',
  access: contentReader(),
  params: CollectionPath,
  returns: ok(ModCollectionObject),
  errors: GAME,
  handle: async (app, { caller, params, cache, cacheUntil, portal }) => {
    const { game_id, collection_id } = params;
    const shown = await requireShownCollection(app, caller, game_id, collection_id);
    const { submitted_by } = shown.collection;
    if (isPublic(shown.collection))
      cache(`collections/${collection_id}`, `games/${game_id}/mods`, `games/${game_id}`, `users/${submitted_by}`);
    cacheUntil(ratingsAgeAt(app.clock.now()));
    return toModCollection(app, shown, portal);
  },
});

export const updateCollectionOperation = operation({
  id: 'update-collection',
  tag: 'Collections',
  method: 'POST',
  path: '/games/{game_id}/collections/{collection_id}',
  says: 'Edits a collection. Allowed for its submitter and managers of the game; only the submitter and administrators of the game change its mods.',
  access: user('write'),
  ends: ['collections'],
  params: CollectionPath,
  body: CollectionChangesBody,
  files: { logo: LOGO },
  returns: ok(ModCollectionObject),
  errors: [
    ...GAME,
    'COLLECTIONS_NO_UPDATE_PERMISSION',
    'COLLECTIONS_NO_SET_PERMISSION',
    ...MODS_REFUSED,
    'COLLECTIONS_CONFLICT_ALREADY_REGISTERING_MODS',
    'COLLECTION_TAGS_NO_ADD_PERMISSION',
    'COLLECTION_TAGS_NO_ADD_LOCKED_PERMISSION',
    'COLLECTION_TAGS_NO_DELETE_PERMISSION',
    'COLLECTIONS_TAGS_NO_DELETE_PERMISSION',
  ],
  handle: async (app, { caller, params, body, files, portal }) => {
    const { sync, ...fields } = body;
    const sent = { fields, sync, logo: files['logo'] };
    return toModCollection(
      app,
      await updateCollection(app, caller, params.game_id, params.collection_id, sent),
      portal,
    );
  },
});

export const deleteCollectionOperation = operation({
  id: 'delete-collection',
  tag: 'Collections',
  method: 'DELETE',
  path: '/games/{game_id}/collections/{collection_id}',
  says: 'Deletes a collection. Allowed for its submitter and the game’s team. Administrators of the game can restore it, unless it was deleted permanently.',
  access: user('write'),
  ends: ['collections'],
  params: CollectionPath,
  body: z.object({
    permanent: z
      .boolean()
      .default(false)
      .meta({ description: 'Permanently. Allowed for the submitter and administrators of the game.' }),
    reason: z.string().trim().max(1_000).default('').meta({ description: 'The reason, shown to the game’s team.' }),
  }),
  returns: noContent,
  errors: [...GAME, 'COLLECTIONS_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params: { game_id, collection_id }, body }) =>
    body.permanent
      ? deleteCollectionForEver(app, caller, game_id, collection_id)
      : deleteCollection(app, caller, game_id, collection_id, body.reason),
});

export const getCollectionMods = operation({
  id: 'get-collection-mods',
  tag: 'Collections',
  method: 'GET',
  path: '/games/{game_id}/collections/{collection_id}/mods',
  says: 'Lists the public mods of a collection; with a platform, if the game has platforms, those that are live on it.',
  access: contentReader(),
  params: CollectionPath,
  query: z.object({
    show_hidden_mods: z.boolean().default(false).meta({
      description:
        'Also include mods that are not public: for the game’s team all, for other callers those whose team they belong to.',
    }),
  }),
  list: collectionModListing,
  returns: ok(pageOf(ModObject)),
  errors: GAME,
  handle: async (app, { caller, params, query, list, language, platform, portal, cache, cacheUntil }) => {
    const { game_id: gameId, collection_id: id } = params;
    const which = { gameId, id, showHidden: query.show_hidden_mods };
    const { mods, total, isForAll } = await listModsOfCollection(app, caller, which, list, language, platform);
    if (isForAll) cache(`collections/${id}`, `games/${gameId}/mods`, `games/${gameId}`, 'users');
    cacheUntil(linksChangeAt(app.clock.now()));
    return pageOfJson(
      mods.map((mod) => modJson(app, mod, { portal })),
      total,
      list,
    );
  },
});

export const deleteCollectionMods = operation({
  id: 'delete-collection-mods',
  tag: 'Collections',
  method: 'DELETE',
  path: '/games/{game_id}/collections/{collection_id}/mods',
  says: 'Removes mods from a collection. Allowed for its submitter and administrators of the game.',
  access: user('write'),
  params: CollectionPath,
  body: z.object({ mod_ids: z.array(Id).min(1).max(MODS_AT_ONCE_MAX) }),
  returns: noContent,
  errors: [
    ...GAME,
    'COLLECTIONS_NO_SET_PERMISSION',
    'COLLECTIONS_NOT_ENOUGH_PUBLIC_MODS',
    'COLLECTIONS_CONFLICT_ALREADY_REGISTERING_MODS',
  ],
  handle: (app, { caller, params, body }) =>
    removeModsFromCollection(app, caller, params.game_id, params.collection_id, body.mod_ids),
});

export const followCollectionOperation = operation({
  id: 'follow-collection',
  tag: 'Collections',
  method: 'POST',
  path: '/games/{game_id}/collections/{collection_id}/followers',
  says: 'Follows a public collection. This does not subscribe to its mods.',
  access: user('write'),
  params: CollectionPath,
  returns: createdOrThere(ModCollectionObject),
  errors: [...GAME, 'COLLECTIONS_NOT_FOLLOWABLE'],
  handle: async (app, { caller, params, portal }) => {
    const { game_id, collection_id } = params;
    const { shown, isNew } = await followCollection(app, caller, game_id, collection_id);
    const object = toModCollection(app, shown, portal);
    return isNew ? new Created(object, addressOf(app, shown)) : object;
  },
});

export const unfollowCollectionOperation = operation({
  id: 'unfollow-collection',
  tag: 'Collections',
  method: 'DELETE',
  path: '/games/{game_id}/collections/{collection_id}/followers',
  says: 'Unfollows a collection.',
  access: user('write'),
  params: CollectionPath,
  returns: noContent,
  errors: GAME,
  handle: (app, { caller, params }) => unfollowCollection(app, caller, params.game_id, params.collection_id),
});

export const subscribeToCollectionMods = operation({
  id: 'subscribe-to-collection-mods',
  tag: 'Collections',
  method: 'POST',
  path: '/games/{game_id}/collections/{collection_id}/subscriptions',
  says: 'Subscribes to the public mods of a collection, except those that have no file, are sold or are not available.',
  access: user('write'),
  params: CollectionPath,
  returns: ok(ModCollectionObject),
  errors: [...GAME, 'SUBSCRIBE_FAILED_ALREADY_SUBSCRIBED'],
  handle: async (app, { caller, params, portal }) =>
    toModCollection(app, await subscribeToMods(app, caller, params.game_id, params.collection_id), portal),
});

export const unsubscribeFromCollectionMods = operation({
  id: 'unsubscribe-from-collection-mods',
  tag: 'Collections',
  method: 'DELETE',
  path: '/games/{game_id}/collections/{collection_id}/subscriptions',
  says: 'Ends the subscriptions to all mods of a collection.',
  access: user('write'),
  params: CollectionPath,
  returns: ok(ModCollectionObject),
  errors: [...GAME, 'UNSUBSCRIBE_NOT_SUBSCRIBED'],
  handle: async (app, { caller, params, portal }) =>
    toModCollection(app, await unsubscribeFromMods(app, caller, params.game_id, params.collection_id), portal),
});

export const addCollectionRating = operation({
  id: 'add-collection-rating',
  tag: 'Collections',
  method: 'POST',
  path: '/games/{game_id}/collections/{collection_id}/compatibility',
  says: 'Rates whether the mods of a collection work together.',
  access: user('write'),
  params: CollectionPath,
  body: z.object({
    rating: z.literal([-1, 0, 1]).meta({ description: '1 they do, -1 they do not, 0 removes the rating.' }),
  }),
  returns: created(z.object({ code: Integer, message: z.string() }).meta({ id: 'AddCollectionRatingResponse' })),
  errors: [...GAME, 'RATING_RESOURCE_ALREADY_RATED', 'RATING_RESOURCE_NOT_RATED'],
  handle: async (app, { caller, params: { game_id, collection_id }, body, language }) => {
    await rateCollection(app, caller, game_id, collection_id, body.rating);
    const address = `${app.addresses.gameApi(game_id)}/games/${game_id}/collections/${collection_id}`;
    return new Created({ code: 201, message: localise('collection_rated', language) }, address);
  },
});

export const getCollectionsOfMod = operation({
  id: 'get-collections-of-mod',
  tag: 'Collections',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/collections',
  says: 'Lists the public collections that show a mod.',
  access: reader(),
  params: ModPath,
  list: collectionListing,
  returns: ok(pageOf(ModCollectionObject)),
  errors: [...GAME, 'MOD_NOT_FOUND', 'MOD_DELETED'],
  handle: async (app, { caller, params, list, cache, cacheUntil, portal }) => {
    const { game_id, mod_id } = params;
    const listed = await listCollectionsOfMod(app, caller, game_id, mod_id, list);
    if (listed.isForAll) cache(`mods/${mod_id}`, ...scopesOfLists(game_id));
    cacheUntil(ratingsAgeAt(app.clock.now()));
    return pageOfCollections(app, listed, { list, portal });
  },
});

export const getMeCollections = operation({
  id: 'get-me-collections',
  tag: 'Me',
  method: 'GET',
  path: '/me/collections',
  says: 'Lists the user’s own collections, including those that are hidden or not accepted, and with `status=3` deleted ones.',
  access: user('read'),
  list: collectionListing,
  returns: ok(pageOf(ModCollectionObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) =>
    pageOfCollections(app, await listOwnCollections(app, caller, list), { list, portal }),
});

export const getMeFollowedCollections = operation({
  id: 'get-me-followed-collections',
  tag: 'Me',
  method: 'GET',
  path: '/me/following/collections',
  says: 'Lists the collections that the user follows.',
  access: user('read'),
  list: collectionListing,
  returns: ok(pageOf(ModCollectionObject)),
  errors: [],
  handle: async (app, { caller, list, portal }) =>
    pageOfCollections(app, await listFollowedCollections(app, caller, list), { list, portal }),
});

export const getUserProfileCollections = operation({
  id: 'get-user-profile-collections',
  tag: 'Users',
  method: 'GET',
  path: '/users/{user_id}/collections',
  says: 'Lists the public collections of a user.',
  access: user('read'),
  params: UserPath,
  list: collectionListing,
  returns: ok(pageOf(ModCollectionObject)),
  errors: ['USER_NOT_FOUND'],
  handle: async (app, { caller, params, list, portal }) =>
    pageOfCollections(app, await listCollectionsOfUser(app, caller, params.user_id, list), {
      list,
      portal,
    }),
});

export const collectionOperations = [
  getModCollections,
  addCollectionOperation,
  getModCollection,
  updateCollectionOperation,
  deleteCollectionOperation,
  getCollectionMods,
  deleteCollectionMods,
  followCollectionOperation,
  unfollowCollectionOperation,
  subscribeToCollectionMods,
  unsubscribeFromCollectionMods,
  addCollectionRating,
  getCollectionsOfMod,
  getMeCollections,
  getMeFollowedCollections,
  getUserProfileCollections,
];
