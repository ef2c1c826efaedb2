import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import * as store from './store.ts';

// Other nouns count here what they do, so this file knows none of them; `metrics.ts` knows who may see it.

export const DAY = 86_400;

export const dayOf = (second: number): number => Math.floor(second / DAY);

/** Months since the year 0, in UTC. */
export function monthOf(second: number): number {
  const date = new Date(second * 1_000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Within the transaction that did it, and after everything else of the game that is counted there. */
export async function countForMod(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number },
  counts: Partial<store.Counts>,
): Promise<void> {
  const now = app.clock.now();
  await store.addToDay(transaction, mod.game_id, dayOf(now), counts);
  if (counts.downloads || counts.subscribers) await store.addToMonth(transaction, mod, monthOf(now), counts);
}

/** Someone did something in a game: once a day each is counted. Addresses are kept as digests of their day. */
export async function noteActive(
  app: App,
  transaction: Transaction,
  gameId: number,
  who: { userId: number } | { address: string },
): Promise<void> {
  const day = dayOf(app.clock.now());
  const name = 'userId' in who ? `u${who.userId}` : app.secrets.sign(`metrics/${day}`, who.address);
  if (await store.isActive(transaction, gameId, day, name)) return;
  // The day is held first by everyone who counts, so that nobody waits in a circle.
  await store.addToDay(transaction, gameId, day, {});
  if (await store.beActive(transaction, gameId, day, name))
    await store.addToDay(transaction, gameId, day, { active_users: 1 });
}

/** Days of the game keep what was counted; no ranking names the mod again. */
export const removeMonthsOfMod = async (transaction: Transaction, mod: { id: number }): Promise<void> =>
  void (await store.removeMod(transaction, mod.id));
