import { dependenciesBelow } from '../../catalogue/dependencies/dependencies.ts';
import {
  isPublic,
  isPurchased,
  lockMods,
  type ModRow,
  type ModStanding,
  modListing,
  requireReadMod,
} from '../../catalogue/mods/mods.ts';
import { countSubscription } from '../../catalogue/stats/stats.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing } from '../../platform/database/listing.ts';
import { lock } from '../../platform/database/locks.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { recordUserEvent, recordUserEventInTurn, takeTurnOfUser } from '../../records/events/events.ts';
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
    await takeTurnOfUser(transaction, caller.userId);
    const [read, subscribed] = await answersTo([
      store.subscribable(transaction, caller.userId, modId),
      store.subscribedAmong(transaction, caller.userId, needed),
    ]);
    const mod = await requireReadMod(transaction, caller, gameId, read, {
      closed: 'SUBSCRIBE_FAILED_MOD_HIDDEN',
      hidden: 'SUBSCRIBE_FAILED_MOD_HIDDEN',
    });
    if (mod.is_subscribed === 1) subscribed.add(modId);
    const problem = subscribed.has(modId)
      ? undefined
      : await obstacle(transaction, mod, mod.has_file === 1, caller.userId);
    if (problem) throw new ApiError(problem);
    const others = await subscribable(
      transaction,
      needed.flatMap((id) => mods.get(id) ?? []),
      caller.userId,
    );
    const added = await addSubscriptions(app, transaction, caller, [mod, ...others], subscribed);
    return added.includes(mod);
  });
}

/** Bits of `monetization_options`: the stock is limited. */
const LIMITED = 8;

/** The error for a mod that the user cannot subscribe to. */
async function obstacle(
  transaction: Transaction,
  mod: ModStanding,
  isLive: boolean,
  userId: number,
): Promise<ErrorName | undefined> {
  if (mod.dmca === 1) return 'SUBSCRIBE_FAILED_DMCA_COMPLAINT';
  if (!isLive) return 'SUBSCRIBE_FAILED_MODFILE_MISSING';
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
  for (const mod of mods.filter(isPublic)) {
    const isLive = await store.hasLiveFile(transaction, mod.id);
    if (!(await obstacle(transaction, mod, isLive, userId))) open.push(mod);
  }
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
  if (mods.length === 0) return [];
  await takeTurnOfUser(transaction, userId);
  const subscribed = await store.subscribedAmong(transaction, userId, idsOf(mods));
  return addSubscriptions(app, transaction, actor, mods, subscribed);
}

const idsOf = (mods: readonly ModNames[]) => mods.map(({ id }) => id);

/** Renews those that the user has. The transaction has taken the user's turn. */
async function addSubscriptions(
  app: App,
  transaction: Transaction,
  actor: Acting,
  mods: readonly ModNames[],
  subscribed: ReadonlySet<number>,
): Promise<ModNames[]> {
  const { userId } = actor;
  const rowOf = ({ id }: ModNames) => ({ user_id: userId, mod_id: id, date_added: app.clock.now() });
  for (const mod of mods) if (subscribed.has(mod.id)) await store.renew(transaction, rowOf(mod));
  const added = mods.filter(({ id }) => !subscribed.has(id));
  for (const mod of added) await store.add(transaction, rowOf(mod));
  for (const mod of added)
    await recordUserEventInTurn(app, transaction, { ...namesOf(mod), userId, type: 'USER_SUBSCRIBE' });
  for (const mod of added) await countSubscription(app, transaction, mod, 1, actor);
  return added;
}

const namesOf = ({ id, game_id }: ModNames) => ({ gameId: game_id, modId: id });

export async function unsubscribe(app: App, caller: UserCaller, gameId: number, modId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await takeTurnOfUser(transaction, caller.userId);
    const read = await store.subscribable(transaction, caller.userId, modId);
    const mod = await requireReadMod(transaction, caller, gameId, read);
    if (mod.is_subscribed === 0) throw new ApiError('UNSUBSCRIBE_NOT_SUBSCRIBED');
    await endSubscriptions(app, transaction, caller, [mod]);
  });
}

/** Returns the number of ended subscriptions. The transaction has locked the mods. */
export async function unsubscribeFromAll(
  app: App,
  transaction: Transaction,
  actor: Acting,
  mods: readonly ModNames[],
): Promise<number> {
  if (mods.length === 0) return 0;
  await takeTurnOfUser(transaction, actor.userId);
  const subscribed = await store.subscribedAmong(transaction, actor.userId, idsOf(mods));
  const removed = mods.filter(({ id }) => subscribed.has(id));
  await endSubscriptions(app, transaction, actor, removed);
  return removed.length;
}

/** The transaction has taken the user's turn. */
async function endSubscriptions(app: App, transaction: Transaction, actor: Acting, mods: readonly ModNames[]) {
  const { userId } = actor;
  for (const mod of mods) await store.remove(transaction, userId, mod.id);
  for (const mod of mods)
    await recordUserEventInTurn(app, transaction, { ...namesOf(mod), userId, type: 'USER_UNSUBSCRIBE' });
  for (const mod of mods) await countSubscription(app, transaction, mod, -1, actor);
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
      // Users who unsubscribe at this moment have locked the mod as well, and end their subscriptions first.
      await lock(transaction, [{ kind: 'mods', id: modId, mode: 'ends' }]);
      const people = await store.removeSome(transaction, modId, date, TAKEN_OFF_AT_ONCE);
      for (const userId of people)
        await recordUserEvent(app, transaction, { gameId, modId, userId, type: 'USER_UNSUBSCRIBE' });
      if (people.length > 0) await countSubscription(app, transaction, mod, -people.length);
      return people.length;
    });
  while ((await step()) === TAKEN_OFF_AT_ONCE) await heartbeat();
}
