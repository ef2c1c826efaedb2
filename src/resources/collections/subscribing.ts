import { muterOf, type UserCaller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import { holdMods } from '../mods/mods.ts';
import { subscribable, subscribeToAll, unsubscribeFromAll } from '../subscriptions/subscriptions.ts';
import { requireCollection } from './access.ts';
import { type ShownCollection, showCollection } from './collections.ts';
import * as store from './store.ts';

/** To all of its mods to which everyone can subscribe. One that cannot be had keeps nobody from the others. */
export function subscribeToMods(app: App, caller: UserCaller, gameId: number, id: number): Promise<ShownCollection> {
  return app.db.write(async (transaction) => {
    await requireCollection(transaction, caller, gameId, id);
    const ids = await store.publicModsOf(transaction.query, id, muterOf(caller));
    const mods = await holdMods(transaction, ids);
    const wanted = await subscribable(
      transaction,
      ids.flatMap((modId) => mods.get(modId) ?? []),
    );
    await subscribeToAll(app, transaction, caller.userId, wanted);
    return showCollection(app, transaction, id);
  });
}

/** From all of its mods, also from those that were hidden meanwhile: to a subscriber their being there is no news. */
export function unsubscribeFromMods(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
): Promise<ShownCollection> {
  return app.db.write(async (transaction) => {
    await requireCollection(transaction, caller, gameId, id);
    const mods = await holdMods(transaction, await store.modIdsOf(transaction.query, id));
    await unsubscribeFromAll(app, transaction, caller.userId, [...mods.values()]);
    return showCollection(app, transaction, id);
  });
}
