import { requireGame } from '../../catalogue/games/games.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import { countActive } from '../../records/metrics/counting.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import type { Commentable, Commented } from '../comments/extensions.ts';
import {
  type CollectionRow,
  countCommentsOfCollection,
  GAME_COLLECTION_COMMENTS,
  isPublic,
  mayModerate,
  requireCollection,
  requireCollectionForChange,
  standingOf,
} from './collections.ts';

async function commentedCollection(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  collection: CollectionRow,
): Promise<Commented> {
  const standing = await standingOf(reader, caller, collection);
  const gameOptions = (await requireGame(reader, caller, collection.game_id)).community_options;
  return {
    id: collection.id,
    gameId: collection.game_id,
    ownerId: collection.submitted_by,
    isPublic: isPublic(collection),
    allowsComments: (gameOptions & GAME_COLLECTION_COMMENTS) !== 0,
    gameOptions,
    isTeam: standing.isSubmitter || mayModerate(standing),
  };
}

export const commentableCollections: Commentable = {
  resource: 'collections',
  find: async (_, reader, caller, gameId, id) =>
    commentedCollection(reader, caller, await requireCollection(reader, caller, gameId, id)),
  lock: async (_, transaction, caller, gameId, id) =>
    commentedCollection(transaction, caller, await requireCollectionForChange(transaction, caller, gameId, id)),
  onChange: async (app, transaction, collection, { type, userId, address, platform, difference }) => {
    if (type === 'added') await countActive(app, transaction, collection.gameId, { userId, address, platform });
    await countCommentsOfCollection(transaction, { id: collection.id, game_id: collection.gameId }, difference);
    await recordStudioEvent(app, transaction, {
      gameId: collection.gameId,
      kind: type === 'added' ? 'COLLECTION_COMMENT_ADDED' : 'COLLECTION_COMMENT_DELETED',
      subject: `collections/${collection.id}`,
      data: { collection_id: collection.id, user_id: userId },
    });
  },
};
