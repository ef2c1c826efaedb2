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

const NOTHING = {
  downloads: 0,
  subscribers: 0,
  ratings_positive: 0,
  ratings_negative: 0,
  sessions: 0,
  session_seconds: 0,
};
type AppendedCounts = typeof NOTHING;
const NOBODY = { who: '', address_of_day: '', address_of_month: '' };

/** Appends counts in the transaction of the change; `foldMetrics` adds them to the metrics within seconds. */
export async function countForMod(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number },
  counts: Partial<AppendedCounts>,
  { platform, actor }: { readonly platform?: string | undefined; readonly actor?: Actor | undefined } = {},
): Promise<void> {
  await store.appendChange(transaction, {
    game_id: mod.game_id,
    mod_id: mod.id,
    platform: actor?.platform ?? platform ?? '',
    date_added: app.clock.now(),
    ...NOTHING,
    ...counts,
    ...(actor ? activityOf(app, actor) : NOBODY),
  });
}

/** Counts downloads of a mod. The platforms' downloads are part of the total. */
export async function countDownloads(
  app: App,
  transaction: Transaction,
  mod: { id: number; game_id: number },
  downloads: number,
  platforms: ReadonlyMap<string, number>,
): Promise<void> {
  let elsewhere = downloads;
  for (const [platform, some] of platforms) {
    elsewhere -= some;
    await countForMod(app, transaction, mod, { downloads: some }, { platform });
  }
  if (elsewhere !== 0) await countForMod(app, transaction, mod, { downloads: elsewhere });
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
  await countForMod(app, transaction, { id: 0, game_id: gameId }, {}, { actor });
}

const activityOf = (app: App, actor: Actor): typeof NOBODY => ({
  who: 'userId' in actor ? `u${actor.userId}` : '',
  ...(actor.address ? digestsOf(app, actor.address) : NO_ADDRESS),
});

const NO_ADDRESS = { address_of_day: '', address_of_month: '' };
type Digests = typeof NO_ADDRESS;

/** Whoever acts once mostly acts again, and the two digests take a twentieth of the time of a subscription. */
const recent = new WeakMap<App['secrets'], { readonly day: number; readonly digests: Map<string, Digests> }>();
const RECENT_MAX = 10_000;

function digestsOf(app: App, address: string): Digests {
  const now = app.clock.now();
  const day = dayOf(now);
  const last = recent.get(app.secrets);
  const { digests } = last?.day === day && last.digests.size < RECENT_MAX ? last : { digests: new Map() };
  if (digests !== last?.digests) recent.set(app.secrets, { day, digests });
  const known = digests.get(address);
  if (known) return known;
  const made = {
    address_of_day: app.secrets.sign(`metrics/day/${day}`, address),
    address_of_month: app.secrets.sign(`metrics/month/${monthOf(now)}`, address),
  };
  digests.set(address, made);
  return made;
}

/** Counts play sessions of a game. */
export const countSessions = (
  app: App,
  transaction: Transaction,
  { gameId, platform }: store.Place,
  counts: Pick<Partial<AppendedCounts>, 'sessions' | 'session_seconds'>,
) => countForMod(app, transaction, { id: 0, game_id: gameId }, counts, { platform });

/** The totals of the game stay; rankings omit the mod from now on. */
export const removeMonthsOfMod = (transaction: Transaction, mod: { id: number }): Promise<void> =>
  store.removeMod(transaction, mod.id);

/** Removes rows that only prevent counting twice. Session reports this old are refused by their date. */
export async function removeOldActivity(app: App): Promise<void> {
  const second = app.clock.now() - KEPT_DAYS * DAY;
  await store.removeBefore(app.db, { ...spansOf(second), second });
}
