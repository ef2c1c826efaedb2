import { lockMods } from '../../catalogue/mods/mods.ts';
import { countSubscription } from '../../catalogue/stats/stats.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type PersonalData, STEP_ROWS } from '../../platform/personal-data.ts';
import { recordUserEventInTurn, takeTurnOfUser } from '../../records/events/events.ts';
import * as store from './store.ts';

/** A batch of the user’s subscribed mods, locked in the order that every counter uses. */
async function someOf(transaction: Transaction, userId: number) {
  const ids = await store.modsOf(transaction, userId, STEP_ROWS);
  return { ids, mods: await lockMods(transaction, ids) };
}

async function erasing(app: App, transaction: Transaction, userId: number): Promise<boolean> {
  const { ids, mods } = await someOf(transaction, userId);
  for (const id of ids) {
    const mod = (await store.take(transaction, userId, id)) ? mods.get(id) : undefined;
    if (mod) await countSubscription(app, transaction, mod, -1);
  }
  return ids.length === STEP_ROWS;
}

/**
 * A mod to which both accounts subscribed is counted once. The studio gets events for the new subscriptions of the
 * remaining account.
 */
async function moving(app: App, transaction: Transaction, from: number, to: number): Promise<boolean> {
  const { ids, mods } = await someOf(transaction, from);
  await takeTurnOfUser(transaction, to);
  const doubled = await store.subscribedAmong(transaction, to, ids);
  for (const id of ids)
    if (doubled.has(id)) await store.remove(transaction, from, id);
    else await store.move(transaction, id, from, to);
  for (const { id, game_id } of mods.values())
    if (!doubled.has(id))
      await recordUserEventInTurn(app, transaction, { gameId: game_id, modId: id, userId: to, type: 'USER_SUBSCRIBE' });
  for (const mod of mods.values()) if (doubled.has(mod.id)) await countSubscription(app, transaction, mod, -1);
  return ids.length === STEP_ROWS;
}

export const personalSubscriptions: PersonalData = {
  columns: [
    {
      table: 'subscriptions',
      column: 'user_id',
      exported: ['mod_id', 'date_added'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
  ],
  erasing,
  moving,
};
