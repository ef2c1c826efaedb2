import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

// What mods ask of subscriptions, so this file knows nothing of them.

export const END_SUBSCRIPTIONS = 'subscriptions.end';

/**
 * Whoever has subscribed to a mod that is deleted has no longer, also should it come back. A mod may have any number of
 * subscribers, so a job takes them off in steps; none of them sees the mod meanwhile.
 */
export async function endSubscriptions(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number; subscribers_total: number },
): Promise<void> {
  if (mod.subscribers_total === 0) return;
  const payload = { modId: mod.id, gameId: mod.game_id, date: app.clock.now() };
  await app.jobs.enqueue(transaction, END_SUBSCRIPTIONS, payload);
}

/** It is gone for ever. The job above has been there, as a mod with subscribers is not removed. */
export async function removeSubscriptionsOfMod(transaction: Transaction, mod: { id: number }): Promise<void> {
  await store.removeOfMod(transaction, mod.id);
}
