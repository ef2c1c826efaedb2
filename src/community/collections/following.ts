import { requireGame } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { invalidateCollection, isPublic, requireCollectionForChange } from './access.ts';
import { type ShownCollection, showCollection } from './collections.ts';
import * as store from './store.ts';

/** `isNew` is false if the user already follows it. */
export function followCollection(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
): Promise<{ shown: ShownCollection; isNew: boolean }> {
  return app.db.write(async (transaction) => {
    const collection = await requireCollectionForChange(transaction, caller, gameId, id);
    if (!isPublic(collection)) throw new ApiError('COLLECTIONS_NOT_FOLLOWABLE');
    const isNew = await store.follow(transaction, id, caller.userId, app.clock.now());
    if (isNew) {
      await store.count(transaction, id, { followers_total: 1 });
      invalidateCollection(transaction, collection);
    }
    return { shown: await showCollection(app, transaction, id), isNew };
  });
}

/** Also possible for a hidden collection, because its follower already knows that it exists. */
export async function unfollowCollection(app: App, caller: UserCaller, gameId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const collection = await store.rowForChange(transaction, id);
    await requireGame(transaction, caller, gameId);
    const isFollower = collection?.game_id === gameId && (await store.unfollow(transaction, id, caller.userId));
    if (!isFollower) return void (await requireCollectionForChange(transaction, caller, gameId, id));
    await store.count(transaction, id, { followers_total: -1 });
    invalidateCollection(transaction, collection);
  });
}
