import { lockMods } from '../../catalogue/mods/mods.ts';
import { muterOf, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { subscribable, subscribeToAll, unsubscribeFromAll } from '../subscriptions/subscriptions.ts';
import { requireCollection } from './access.ts';
import { type ShownCollection, showCollection } from './collections.ts';
import * as store from './store.ts';

/** Subscribes to all mods that the user can subscribe to. One that is not available does not prevent the others. */
export function subscribeToMods(app: App, caller: UserCaller, gameId: number, id: number): Promise<ShownCollection> {
  return app.db.write(async (transaction) => {
    await requireCollection(transaction, caller, gameId, id);
    const ids = await store.publicModsOf(transaction.query, id, muterOf(caller));
    const mods = await lockMods(transaction, ids);
    const wanted = await subscribable(
      transaction,
      ids.flatMap((modId) => mods.get(modId) ?? []),
      caller.userId,
    );
    const added = await subscribeToAll(app, transaction, caller, wanted);
    if (wanted.length > 0 && added.length === 0) throw new ApiError('SUBSCRIBE_FAILED_ALREADY_SUBSCRIBED');
    return showCollection(app, transaction, id);
  });
}

/**
 * Unsubscribes from all mods, including those that were hidden meanwhile: their subscriber already knows that they
 * exist.
 */
export function unsubscribeFromMods(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
): Promise<ShownCollection> {
  return app.db.write(async (transaction) => {
    await requireCollection(transaction, caller, gameId, id);
    const mods = await lockMods(transaction, await store.modIdsOf(transaction.query, id));
    const removed = await unsubscribeFromAll(app, transaction, caller, [...mods.values()]);
    if (mods.size > 0 && removed === 0) throw new ApiError('UNSUBSCRIBE_NOT_SUBSCRIBED');
    return showCollection(app, transaction, id);
  });
}
