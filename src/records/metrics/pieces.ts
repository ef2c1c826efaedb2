import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

// Other nouns count here what they do, so this file knows none of them; `metrics.ts` knows who may see it.

export const DAY = 86_400;

export const dayOf = (second: number): number => Math.floor(second / DAY);

/** Months since the year 0, in UTC. */
export function monthOf(second: number): number {
  const date = new Date(second * 1_000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The day and the month of a second. */
export const spansOf = (second: number) => ({ day: dayOf(second), month: monthOf(second) });

/** The whole game and, if it is known, the platform. The game's own row comes first: it serialises those who count. */
export const placesOf = (gameId: number, platform: string | undefined): store.Place[] => [
  { gameId, platform: '' },
  ...(platform ? [{ gameId, platform }] : []),
];

/** Within the transaction that did it, and after everything else of the game that is counted there. */
export async function countForMod(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number },
  counts: Partial<store.Counts>,
  platform?: string,
): Promise<void> {
  for (const place of placesOf(mod.game_id, platform)) await countAt(app, transaction, place, mod.id, counts);
}

/** Downloads of a mod, and how many of them each platform had. */
export async function countDownloads(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number },
  downloads: number,
  platforms: ReadonlyMap<string, number>,
): Promise<void> {
  const gameId = mod.game_id;
  await countAt(app, transaction, { gameId, platform: '' }, mod.id, { downloads });
  for (const [platform, some] of platforms)
    await countAt(app, transaction, { gameId, platform }, mod.id, { downloads: some });
}

async function countAt(
  app: App,
  transaction: Transaction,
  place: store.Place,
  modId: number,
  counts: Partial<store.Counts>,
): Promise<void> {
  const now = app.clock.now();
  await store.addTo(transaction, place, spansOf(now), counts);
  if (counts.downloads || counts.subscribers) await store.addToMonth(transaction, place, modId, monthOf(now), counts);
}

/** A person, with where they are if that is known; or an address from which someone acts who is not signed in. */
export type Actor = { readonly platform?: string | undefined } & (
  | { readonly userId: number; readonly address?: string | undefined }
  | { readonly address: string }
);

/**
 * Someone did something in a game. On each day, and in each month, a person counts once, and so does an address from
 * which nobody acts who is signed in. Addresses are kept as digests that no other day or month has.
 */
export async function noteActive(app: App, transaction: Transaction, gameId: number, actor: Actor): Promise<void> {
  const now = app.clock.now();
  for (const [span, number] of [['day', dayOf(now)] as const, ['month', monthOf(now)] as const]) {
    const digest = actor.address && app.secrets.sign(`metrics/${span}/${number}`, actor.address);
    const person = 'userId' in actor ? `u${actor.userId}` : undefined;
    for (const place of placesOf(gameId, actor.platform))
      await noteInSpan(app, transaction, { ...place, span, number }, person, digest);
  }
}

async function noteInSpan(
  app: App,
  transaction: Transaction,
  place: store.Span,
  person: string | undefined,
  address: string | undefined,
): Promise<void> {
  const isPerson = person === undefined || (await store.isActive(transaction, place, person));
  const known = address === undefined ? undefined : await store.activityOf(transaction, place, address);
  const isSettled = address === undefined || known === 0 || (person === undefined && known !== undefined);
  if (isPerson && isSettled) return;
  // Held first by everyone who counts, so that nobody waits in a circle; and looked at again, now that nobody else counts.
  for (const each of placesOf(place.gameId, place.platform))
    await store.addTo(transaction, each, spansOf(app.clock.now()), {});
  const added = person !== undefined && (await store.beActive(transaction, place, person, 1)) ? 1 : 0;
  const active = added + (address === undefined ? 0 : await settleAddress(transaction, place, address, person));
  if (active !== 0) await store.addActive(transaction, place, active);
}

/** By how many the number of active people changes. An address that turns out to be a person's counts no longer. */
async function settleAddress(
  transaction: Transaction,
  place: store.Span,
  address: string,
  person: string | undefined,
): Promise<number> {
  if (person === undefined) return (await store.beActive(transaction, place, address, 1)) ? 1 : 0;
  if (await store.beActive(transaction, place, address, 0)) return 0;
  return (await store.uncount(transaction, place, address)) ? -1 : 0;
}

/** Days of the game keep what was counted; no ranking names the mod again. */
export const removeMonthsOfMod = (transaction: Transaction, mod: { id: number }): Promise<void> =>
  store.removeMod(transaction, mod.id);
