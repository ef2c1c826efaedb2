import { requireGame } from '../../catalogue/games/games.ts';
import { isPublic, levelsOf, type ModStanding, requireMod, requireModForChange } from '../../catalogue/mods/mods.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ErrorName } from '../../platform/errors/catalogue.ts';
import { recordModEvent } from '../../records/events/events.ts';
import { noteActive } from '../../records/metrics/counting.ts';
import { tellStudio } from '../../records/webhooks/outbox.ts';
import {
  type CollectionRow,
  countCommentsOfCollection,
  GAME_COLLECTION_COMMENTS,
  isPublic as isPublicCollection,
  mayModerate,
  requireCollection,
  requireCollectionForChange,
  standingOf,
} from '../collections/collections.ts';
import {
  countCommentsOfGuide,
  type GuideRow,
  isAuthor,
  isLive,
  requireGuide,
  requireGuideForChange,
} from '../guides/guides.ts';
import * as store from './store.ts';

type Reader = Pick<Database, 'first'>;

/** Something that people comment on, as its caller sees it. */
export interface Commented {
  readonly id: number;
  readonly gameId: number;
  /** Who submitted it. */
  readonly ownerId: number;
  /** Everyone sees it, so that what is answered about it may be kept. */
  readonly isPublic: boolean;
  /** `community_options` of the thing itself and of its game. */
  readonly options: number;
  readonly gameOptions: number;
  /** The caller is of its team or that of its game, who delete, pin and lock. */
  readonly isTeam: boolean;
}

/** A kind of thing that people comment on. Its operations follow from this description alone. */
export interface Commentable {
  /** As in the path, and in the table of comments. */
  readonly resource: 'mods' | 'guides' | 'collections';
  /** As in the ids of operations and the names of parameters. */
  readonly noun: string;
  /** The bits of `community_options` without which nobody comments: of the game, and of a thing that has its own. */
  readonly allowedBy: { readonly game: number; readonly thing?: number };
  /** Finds it for those who may see it, and refuses all others. */
  find(app: App, reader: Reader, caller: Caller, gameId: number, id: number): Promise<Commented>;
  /** The same for a new comment or a deletion: others who comment on it wait from here on. */
  hold(app: App, transaction: Transaction, caller: Caller, gameId: number, id: number): Promise<Commented>;
  /** Counts and tells of it, in the same transaction and as its last step. */
  happened(app: App, transaction: Transaction, thing: Commented, what: Happening): Promise<void>;
  readonly errors: {
    /** What `find` and `hold` refuse with. */
    readonly unseen: readonly ErrorName[];
    readonly noDelete: ErrorName;
    readonly tooDeep: ErrorName;
    readonly keptByTeam: ErrorName;
    readonly noNegativeKarma: ErrorName;
  };
}

export interface Happening {
  readonly type: 'added' | 'deleted';
  readonly userId: number;
  /** Where they are, if that is known. */
  readonly address?: string | undefined;
  readonly platform?: string | undefined;
  /** How many comments there are more than before; below 0 fewer. */
  readonly difference: number;
}

async function commentedMod(reader: Reader, caller: Caller, mod: ModStanding): Promise<Commented> {
  const levels = await levelsOf(reader, caller, mod);
  return {
    id: mod.id,
    gameId: mod.game_id,
    ownerId: mod.submitted_by,
    isPublic: isPublic(mod),
    options: await store.optionsOfMod(reader, mod.id),
    gameOptions: (await requireGame(reader, caller, mod.game_id)).community_options,
    isTeam: levels.mod >= MODERATOR || levels.game >= MODERATOR,
  };
}

export const commentableMods: Commentable = {
  resource: 'mods',
  noun: 'mod',
  allowedBy: { game: 1, thing: 1 },
  find: async (_, reader, caller, gameId, id) =>
    commentedMod(reader, caller, await requireMod(reader, caller, gameId, id)),
  hold: async (_, transaction, caller, gameId, id) =>
    commentedMod(transaction, caller, await requireModForChange(transaction, caller, gameId, id)),
  happened: async (app, transaction, mod, { type, userId, address, platform }) => {
    if (type === 'added') await noteActive(app, transaction, mod.gameId, { userId, address, platform });
    await recordModEvent(app, transaction, {
      gameId: mod.gameId,
      modId: mod.id,
      userId,
      type: type === 'added' ? 'MOD_COMMENT_ADDED' : 'MOD_COMMENT_DELETED',
      isPublic: mod.isPublic,
    });
  },
  errors: {
    unseen: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'],
    noDelete: 'MOD_COMMENT_NO_DELETE_PERMISSION',
    tooDeep: 'MOD_COMMENT_REPLY_READ_TOO_BIG',
    keptByTeam: 'MOD_COMMENT_NO_COMMENT_PERMISSION_BY_ADMIN',
    noNegativeKarma: 'MOD_COMMENT_NEGATIVE_KARMA_DISABLED',
  },
};

async function commentedGuide(app: App, reader: Reader, caller: Caller, guide: GuideRow): Promise<Commented> {
  const level = await teamLevel(reader, caller, 'games', guide.game_id);
  return {
    id: guide.id,
    gameId: guide.game_id,
    ownerId: guide.submitted_by,
    isPublic: isLive(app, guide),
    options: guide.community_options,
    gameOptions: (await requireGame(reader, caller, guide.game_id)).community_options,
    isTeam: isAuthor(caller, guide) || level >= MODERATOR,
  };
}

export const commentableGuides: Commentable = {
  resource: 'guides',
  noun: 'guide',
  allowedBy: { game: 2_048, thing: 2_048 },
  find: async (app, reader, caller, gameId, id) =>
    commentedGuide(app, reader, caller, await requireGuide(app, reader, caller, gameId, id)),
  hold: async (app, transaction, caller, gameId, id) =>
    commentedGuide(app, transaction, caller, await requireGuideForChange(app, transaction, caller, gameId, id)),
  happened: async (app, transaction, guide, { type, userId, address, platform, difference }) => {
    if (type === 'added') await noteActive(app, transaction, guide.gameId, { userId, address, platform });
    await countCommentsOfGuide(transaction, { id: guide.id, game_id: guide.gameId }, difference);
    await tellStudio(app, transaction, {
      gameId: guide.gameId,
      kind: type === 'added' ? 'GUIDE_COMMENT_ADDED' : 'GUIDE_COMMENT_DELETED',
      subject: `guides/${guide.id}`,
      data: { guide_id: guide.id, user_id: userId },
    });
  },
  errors: {
    unseen: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GUIDE_NO_VIEW_PERMISSION', 'RESOURCE_NOT_FOUND', 'GUIDE_DELETED'],
    noDelete: 'GUIDE_COMMENT_NO_DELETE_PERMISSION',
    tooDeep: 'GUIDE_COMMENT_REPLY_READ_TOO_BIG',
    keptByTeam: 'GUIDE_COMMENT_NO_COMMENT_PERMISSION_BY_ADMIN',
    noNegativeKarma: 'GUIDE_COMMENT_NEGATIVE_KARMA_DISABLED',
  },
};

async function commentedCollection(reader: Reader, caller: Caller, collection: CollectionRow): Promise<Commented> {
  const standing = await standingOf(reader, caller, collection);
  return {
    id: collection.id,
    gameId: collection.game_id,
    ownerId: collection.submitted_by,
    isPublic: isPublicCollection(collection),
    options: 0,
    gameOptions: (await requireGame(reader, caller, collection.game_id)).community_options,
    isTeam: standing.isSubmitter || mayModerate(standing),
  };
}

export const commentableCollections: Commentable = {
  resource: 'collections',
  noun: 'collection',
  allowedBy: { game: GAME_COLLECTION_COMMENTS },
  find: async (_, reader, caller, gameId, id) =>
    commentedCollection(reader, caller, await requireCollection(reader, caller, gameId, id)),
  hold: async (_, transaction, caller, gameId, id) =>
    commentedCollection(transaction, caller, await requireCollectionForChange(transaction, caller, gameId, id)),
  happened: async (app, transaction, collection, { type, userId, address, platform, difference }) => {
    if (type === 'added') await noteActive(app, transaction, collection.gameId, { userId, address, platform });
    await countCommentsOfCollection(transaction, { id: collection.id, game_id: collection.gameId }, difference);
    await tellStudio(app, transaction, {
      gameId: collection.gameId,
      kind: type === 'added' ? 'COLLECTION_COMMENT_ADDED' : 'COLLECTION_COMMENT_DELETED',
      subject: `collections/${collection.id}`,
      data: { collection_id: collection.id, user_id: userId },
    });
  },
  errors: {
    unseen: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NOT_FOUND'],
    noDelete: 'COLLECTIONS_COMMENT_NO_DELETE_PERMISSION',
    tooDeep: 'COLLECTIONS_COMMENT_REPLY_READ_TOO_BIG',
    keptByTeam: 'COLLECTIONS_COMMENT_NO_COMMENT_PERMISSION_BY_ADMIN',
    noNegativeKarma: 'MOD_COMMENT_NEGATIVE_KARMA_DISABLED',
  },
};
