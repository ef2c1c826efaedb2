import { dependenciesBelow } from '../../catalogue/dependencies/dependencies.ts';
import {
  isPublic,
  isPurchased,
  lockMods,
  type ModRow,
  type ModStanding,
  modListing,
  requireMod,
} from '../../catalogue/mods/mods.ts';
import { countSubscription } from '../../catalogue/stats/stats.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { recordUserEvent } from '../../records/events/events.ts';
import * as store from './store.ts';

/** An expression, so that the database starts at the user’s few subscriptions and not at the game’s many mods. */
export const subscribedListing: Listing = {
  ...modListing,
  columns: { ...modListing.columns, game_id: { kind: 'integer', sql: '(m.game_id + 0)' } },
};

export interface Subscribing {
  readonly gameId: number;
  readonly modId: number;
  /** Includes dependencies, recursively. */
  readonly includeDependencies: boolean;
}

/** Returns whether the subscription is new. */
export async function subscribe(
  app: App,
  caller: UserCaller,
  { gameId, modId, includeDependencies }: Subscribing,
): Promise<boolean> {
  return app.db.write(async (transaction) => {
    const needed = includeDependencies ? await dependenciesBelow(transaction, gameId, modId) : [];
    const mods = await lockMods(transaction, needed);
    const mod = await requireMod(transaction, caller, gameId, modId, {
      closed: 'SUBSCRIBE_FAILED_MOD_HIDDEN',
      hidden: 'SUBSCRIBE_FAILED_MOD_HIDDEN',
    });
    const problem = await obstacle(transaction, mod, caller.userId);
    if (problem && !(await store.isSubscribed(transaction, caller.userId, modId))) throw new ApiError(problem);
    const others = await subscribable(
      transaction,
      needed.flatMap((id) => mods.get(id) ?? []),
      caller.userId,
    );
    const added = await subscribeToAll(app, transaction, caller, [mod, ...others]);
    return added.includes(mod);
  });
}

/** Bits of `monetization_options`: the stock is limited. */
const LIMITED = 8;

/** The error for a mod that the user cannot subscribe to. */
async function obstacle(transaction: Transaction, mod: ModStanding, userId: number): Promise<ErrorName | undefined> {
  if (mod.dmca === 1) return 'SUBSCRIBE_FAILED_DMCA_COMPLAINT';
  if (!(await store.hasLiveFile(transaction, mod.id))) return 'SUBSCRIBE_FAILED_MODFILE_MISSING';
  const isLimited = (mod.monetization_options & LIMITED) !== 0;
  if ((mod.price === 0 && !isLimited) || (await isPurchased(transaction, mod.id, userId))) return undefined;
  if (isLimited && mod.stock === 0) return 'SUBSCRIBE_FAILED_NO_STOCK';
  return mod.price > 0 ? 'SUBSCRIBE_FAILED_MUST_PURCHASE' : undefined;
}

/** The mods that the user can subscribe to. The transaction has locked them. */
export async function subscribable(
  transaction: Transaction,
  mods: readonly ModRow[],
  userId: number,
): Promise<ModRow[]> {
  const open: ModRow[] = [];
  for (const mod of mods) if (isPublic(mod) && !(await obstacle(transaction, mod, userId))) open.push(mod);
  return open;
}

type Acting = Pick<UserCaller, 'userId' | 'address' | 'platform'>;

type ModNames = Pick<ModRow, 'id' | 'game_id'>;

/** The caller has checked the permission and locked the mods. Returns those that the user had not subscribed to. */
export async function subscribeToAll(
  app: App,
  transaction: Transaction,
  actor: Acting,
  mods: readonly ModNames[],
): Promise<ModNames[]> {
  const { userId } = actor;
  const added: ModNames[] = [];
  for (const mod of mods)
    if (await store.put(transaction, { user_id: userId, mod_id: mod.id, date_added: app.clock.now() })) added.push(mod);
  for (const mod of added) await recordUserEvent(app, transaction, { ...namesOf(mod), userId, type: 'USER_SUBSCRIBE' });
  for (const mod of added) await countSubscription(app, transaction, mod, 1, actor);
  return added;
}

const namesOf = ({ id, game_id }: ModNames) => ({ gameId: game_id, modId: id });

export async function unsubscribe(app: App, caller: UserCaller, gameId: number, modId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await requireMod(transaction, caller as Caller, gameId, modId);
    const removed = await unsubscribeFromAll(app, transaction, caller, [mod]);
    if (removed === 0) throw new ApiError('UNSUBSCRIBE_NOT_SUBSCRIBED');
  });
}

/** Returns the number of ended subscriptions. The transaction has locked the mods. */
export async function unsubscribeFromAll(
  app: App,
  transaction: Transaction,
  actor: Acting,
  mods: readonly ModNames[],
): Promise<number> {
  const { userId } = actor;
  const removed: ModNames[] = [];
  for (const mod of mods) if (await store.remove(transaction, userId, mod.id)) removed.push(mod);
  for (const mod of removed)
    await recordUserEvent(app, transaction, { ...namesOf(mod), userId, type: 'USER_UNSUBSCRIBE' });
  for (const mod of removed) await countSubscription(app, transaction, mod, -1, actor);
  return removed.length;
}

export const END_SUBSCRIPTIONS = 'subscriptions.end';

export interface Ending {
  readonly modId: number;
  readonly gameId: number;
  /** Later subscriptions, after the mod was restored, stay. */
  readonly date: number;
}

const TAKEN_OFF_AT_ONCE = 200;

/**
 * Removes all subscribers of a deleted mod in batches, so that other writers of the game’s counters wait for one batch
 * at most.
 */
export async function removeSubscribers(
  app: App,
  { modId, gameId, date }: Ending,
  heartbeat: () => Promise<void>,
): Promise<void> {
  const mod = { id: modId, game_id: gameId };
  const step = () =>
    app.db.write(async (transaction) => {
      await lockMods(transaction, [modId]);
      const people = await store.removeSome(transaction, modId, date, TAKEN_OFF_AT_ONCE);
      for (const userId of people)
        await recordUserEvent(app, transaction, { gameId, modId, userId, type: 'USER_UNSUBSCRIBE' });
      if (people.length > 0) await countSubscription(app, transaction, mod, -people.length);
      return people.length;
    });
  while ((await step()) === TAKEN_OFF_AT_ONCE) await heartbeat();
}
