import type { GameRow } from '../../catalogue/games/games.ts';
import { lockMods, type ModRow } from '../../catalogue/mods/mods.ts';
import { findUser, USER_DELETED } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { insufficientFunds } from '../ledger/ledger.ts';
import { skusOfMod } from '../offers/offers.ts';
import { logRefusals, requireMaySpend } from '../spending/guards.ts';
import type { Proof, StorePortal } from '../stores/adapter.ts';
import { type Spent, type StoreRequest, settleSpent, spend } from '../stores/selling.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import { findAnswer } from './keys.ts';
import { buyerWithoutRequest } from './orders.ts';
import { type Checkout, requestOf, requireBuyable, requireMarket } from './purchases.ts';
import { refund } from './refunds.ts';
import { answerBought, CHECKOUT, type PaidResponse, requireInStock, sellOrdered } from './selling.ts';
import * as store from './store.ts';

/** The `type` of a checkout that is paid with a purchase at the store of the portal. */
export const PAY_AT_STORE = 1;

export interface StoreCheckout extends Checkout {
  readonly portal: StorePortal | undefined;
  readonly proof: Proof;
}

const refused = (error: ErrorName, rule: 'invalid' | 'unavailable' | 'no_entitlement' | 'limit_of_day' = 'invalid') =>
  new ApiError(error, { fields: [{ field: 'portal', rule }] });

/**
 * Buys a mod with what the buyer owns at a store. The purchase there is consumed, its tokens are credited, and these pay
 * for the mod. If the answer of the store is lost, a job completes the order.
 */
export async function buyAtStore(
  app: App,
  caller: UserCaller,
  checkout: StoreCheckout,
  respond: PaidResponse,
): Promise<string> {
  const game = await requireMarket(app, caller, checkout);
  const { portal, proof, gameId, modId } = checkout;
  if (!portal) throw refused('MONETIZATION_PORTAL_INVALID');
  const keyed = requestOf(app, caller, checkout, CHECKOUT, portal);
  const earlier = await findAnswer(app, keyed);
  if (earlier !== undefined) return earlier;
  const request = { gameId, portal, proof };
  const open = await store.openStoreOrder(app.db, caller.userId, modId);
  const { spent, fulfilmentId } = open
    ? { spent: await settleSpent(app, caller, request, open.fulfilment_id), fulfilmentId: open.fulfilment_id }
    : await logRefusals(app, caller, checkout, () => beginOrder(app, caller, game, checkout, request));
  if (spent !== 'fulfilled') throw refusalOf(spent);
  await handOver(app, caller, fulfilmentId);
  return answerBought(app, keyed, respond, (transaction) => store.storeOrderOf(transaction, fulfilmentId));
}

function refusalOf(spent: Exclude<Spent, 'fulfilled'>): ApiError {
  if (spent === 'pending') return refused('MONETIZATION_FINALIZE_FAILED', 'unavailable');
  if (spent === 'claimed') return refused('MONETIZATION_ACCOUNT_ERROR');
  if (spent === 'unpaid') return new ApiError('MONETIZATION_PAYMENT_FAILED');
  return refused('MONETIZATION_PORTAL_CONSUME_FAILED', spent === 'limited' ? 'limit_of_day' : 'no_entitlement');
}

/** The order is recorded with the intent to consume, so a purchase is never consumed for nothing. */
async function beginOrder(
  app: App,
  caller: UserCaller,
  game: GameRow,
  checkout: StoreCheckout,
  request: StoreRequest,
): Promise<{ spent: Spent; fulfilmentId: number }> {
  const { sku } = await app.db.write((transaction) => requireOrderable(app, transaction, caller, game, checkout));
  let fulfilmentId = 0;
  const spent = await spend(app, caller, request, sku, async (transaction, record) => {
    const { mod } = await requireOrderable(app, transaction, caller, game, checkout);
    // A second request at the same moment would consume a second purchase for the same mod.
    if (await store.openStoreOrder(transaction, caller.userId, mod.id)) throw refusalOf('pending');
    const intended = await record();
    if (!intended || intended === 'limited') return intended;
    await requireEnough(transaction, mod, caller.userId, intended.tokens);
    fulfilmentId = intended.id;
    await store.addStoreOrder(transaction.query, {
      fulfilment_id: fulfilmentId,
      user_id: caller.userId,
      game_id: game.id,
      mod_id: mod.id,
      price: mod.price,
      subscribe: Number(checkout.subscribe),
      status: 'open',
      purchase_id: 0,
      date_added: app.clock.now(),
    });
    return intended;
  });
  return { spent, fulfilmentId };
}

/** The product that pays for the mod at this store, if nothing keeps the caller from buying. Locks the mod. */
async function requireOrderable(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  game: GameRow,
  { modId, portal, displayAmount }: StoreCheckout,
): Promise<{ mod: ModRow; sku: string }> {
  const mod = (await lockMods(transaction, [modId])).get(modId)!;
  const { terms } = await requireBuyable(transaction, caller, game.id, mod.id, displayAmount);
  await requireMaySpend(app, transaction, caller, mod, terms);
  requireInStock(mod);
  const listed = (await skusOfMod(transaction, mod)).find((each) => each.portal === portal);
  if (!listed) throw new ApiError('MONETIZATION_SKU_MISSING', { fields: [{ field: 'mod_id', rule: 'not_for_sale' }] });
  return { mod, sku: listed.sku };
}

/** A deficit is settled first, so the tokens of the purchase may be too few. */
async function requireEnough(transaction: Transaction, mod: ModRow, userId: number, tokens: number): Promise<void> {
  const { balance, deficit } = await tokensOwned(transaction, mod.game_id, userId);
  if (balance - deficit + tokens < mod.price) throw insufficientFunds();
}

/** Hands the mod over; if that is not possible any more, the buyer keeps the tokens. */
async function handOver(app: App, caller: UserCaller, fulfilmentId: number): Promise<void> {
  const { mod_id: modId } = (await store.storeOrderOf(app.db, fulfilmentId))!;
  try {
    await app.db.write(async (transaction) => {
      await lockMods(transaction, [modId]);
      const order = (await store.lockStoreOrder(transaction, fulfilmentId))!;
      if (order.status !== 'open') return;
      const purchase_id = await sellOrdered(app, transaction, caller, order, modId);
      await store.changeStoreOrder(transaction.query, fulfilmentId, { status: 'bought', purchase_id });
    });
  } catch (error) {
    if (error instanceof ApiError) await giveUp(app, fulfilmentId);
    throw error;
  }
}

const giveUp = (app: App, fulfilmentId: number): Promise<void> =>
  app.db.write(async (transaction) => {
    const order = await store.lockStoreOrder(transaction, fulfilmentId);
    if (order?.status === 'open') await store.changeStoreOrder(transaction.query, fulfilmentId, { status: 'failed' });
  });

export const COMPLETE_STORE_ORDER = 'purchases.complete-store-order';
export const REVERSE_STORE_ORDER = 'purchases.reverse-store-order';

interface StoreOrderJob {
  readonly fulfilmentId: number;
}

const enqueue = (kind: string) => async (app: App, transaction: Transaction, fulfilmentId: number) => {
  if (await store.storeOrderOf(transaction, fulfilmentId))
    await app.jobs.enqueue(transaction, kind, { fulfilmentId }, { key: String(fulfilmentId) });
};

/** The job survives a crash between the credit of the tokens and the purchase of the mod. */
export const orderFulfilled = enqueue(COMPLETE_STORE_ORDER);
export const orderReversed = enqueue(REVERSE_STORE_ORDER);

/** For buyers who do not come back after an answer was lost. */
export async function completeStoreOrder(app: App, { fulfilmentId }: StoreOrderJob): Promise<void> {
  const { user_id: userId } = (await store.storeOrderOf(app.db, fulfilmentId))!;
  if ((await findUser(app, userId))?.status === USER_DELETED) return giveUp(app, fulfilmentId);
  try {
    await handOver(app, buyerWithoutRequest(userId), fulfilmentId);
  } catch (error) {
    // The order has failed, and the tokens are in the wallet.
    if (!(error instanceof ApiError)) throw error;
  }
}

/** The store took the purchase back, so the mod goes back as well: its price settles the deficit. */
export const reverseStoreOrder = (app: App, { fulfilmentId }: StoreOrderJob): Promise<void> =>
  app.db.write(async (transaction) => {
    const { mod_id, purchase_id } = (await store.storeOrderOf(transaction, fulfilmentId))!;
    const mod = (await lockMods(transaction, [mod_id])).get(mod_id);
    const purchase = await store.lockById(transaction, purchase_id);
    if (purchase?.status !== 'paid') return;
    await refund(app, transaction, purchase, mod, { operation: 'stores.refund', actor: 0 });
  });
