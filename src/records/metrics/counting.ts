import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export const DAY = 86_400;
const KEPT_DAYS = 3;

export const dayOf = (second: number): number => Math.floor(second / DAY);

/** Months since the year 0, in UTC. */
export function monthOf(second: number): number {
  const date = new Date(second * 1_000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The day and the month of a second. */
export const spansOf = (second: number) => ({ day: dayOf(second), month: monthOf(second) });

/** The whole game and, if known, the platform. The game's row comes first, because it serialises the writers. */
export const placesOf = (gameId: number, platform: string | undefined): store.Place[] => [
  { gameId, platform: '' },
  ...(platform ? [{ gameId, platform }] : []),
];

/** Counts in the transaction of the change. Call it after every other counter of the game, to keep the lock order. */
export async function countForMod(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number },
  counts: Partial<store.Counts>,
  platform?: string,
): Promise<void> {
  for (const place of placesOf(mod.game_id, platform)) await countAt(app, transaction, place, mod.id, counts);
}

/** Counts downloads of a mod, in total and per platform. */
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

/** A signed-in user, with the platform and address if known; or the address of an anonymous client. */
export type Actor = { readonly platform?: string | undefined } & (
  | { readonly userId: number; readonly address?: string | undefined }
  | { readonly address: string }
);

/**
 * Counts a user as active once per day and month; an address counts in the same way unless a signed-in user acts from
 * it. Addresses are stored as digests keyed by the day or month.
 */
export async function countActive(app: App, transaction: Transaction, gameId: number, actor: Actor): Promise<void> {
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
  // Every writer locks these rows first, which prevents deadlocks; the state is then read again under the lock.
  for (const each of placesOf(place.gameId, place.platform))
    await store.addTo(transaction, each, spansOf(app.clock.now()), {});
  const added = person !== undefined && (await store.addActivity(transaction, place, person, 1)) ? 1 : 0;
  const active = added + (address === undefined ? 0 : await settleAddress(transaction, place, address, person));
  if (active !== 0) await store.addActive(transaction, place, active);
}

/** The change in the number of active users. An address stops counting once a signed-in user acts from it. */
async function settleAddress(
  transaction: Transaction,
  place: store.Span,
  address: string,
  person: string | undefined,
): Promise<number> {
  if (person === undefined) return (await store.addActivity(transaction, place, address, 1)) ? 1 : 0;
  if (await store.addActivity(transaction, place, address, 0)) return 0;
  return (await store.stopCounting(transaction, place, address)) ? -1 : 0;
}

/** The totals of the game stay; rankings omit the mod from now on. */
export const removeMonthsOfMod = (transaction: Transaction, mod: { id: number }): Promise<void> =>
  store.removeMod(transaction, mod.id);

/** Removes rows that only prevent counting twice. Session reports this old are refused by their date. */
export async function removeOldActivity(app: App): Promise<void> {
  const second = app.clock.now() - KEPT_DAYS * DAY;
  await app.db.write((transaction) => store.removeBefore(transaction, { ...spansOf(second), second }));
}
