import type { GameRow } from '../../catalogue/games/games.ts';
import { lockMods, type ModRow } from '../../catalogue/mods/mods.ts';
import { findUser, USER_DELETED } from '../../people/users/users.ts';
import { OPERATOR, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { RunningJob } from '../../platform/jobs/worker.ts';
import { audit } from '../../records/audit/audit.ts';
import { insufficientFunds } from '../ledger/ledger.ts';
import { packToBuy } from '../offers/offers.ts';
import {
  beginPayment,
  chargePayment,
  giveBack,
  lockPayment,
  openPayment,
  type Paying,
  type PaymentRow,
  paymentIn,
  requireGateway,
  settledPayment,
} from '../payments/payments.ts';
import { logRefusals, requireMaySpend } from '../spending/guards.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import { answerOnce, findAnswer, type KeyedRequest } from './keys.ts';
import { type Checkout, priceMismatch, requestOf, requireBuyable, requireMarket } from './purchases.ts';
import { refund } from './refunds.ts';
import { answerBought, CHECKOUT, type PaidResponse, requireInStock, sellOrdered } from './selling.ts';
import * as store from './store.ts';

const DAY = 86_400;

/** The `type` of checkouts that are paid with money in two steps; another type pays at once. */
const PAY_INTENT = 3;
const PAY_COMMIT = 4;

export interface MoneyCheckout extends Checkout {
  /** A method of payment that the provider knows; needed to pay at once. */
  readonly methodId: string | undefined;
  /** The payment of the intent; needed to commit. */
  readonly paymentId: number | undefined;
  /** Whether the buyer accepted the terms and the refund policy. */
  readonly accepted: boolean;
}

export interface Responses {
  readonly paid: PaidResponse;
  readonly pending: (transaction: Transaction, payment: PaymentRow, mod: ModRow, game: GameRow) => Promise<string>;
}

/** Buys a mod with money: the buyer pays for a token pack, and its tokens pay for the mod. */
export async function payForMod(
  app: App,
  caller: UserCaller,
  checkout: MoneyCheckout,
  respond: Responses,
): Promise<string> {
  const game = await requireMarket(app, caller, checkout);
  if (!checkout.accepted) throw new ApiError('MONETIZATION_TERMS_NOT_ACCEPTED');
  const step = checkout.type === PAY_INTENT ? `${CHECKOUT}-intent` : CHECKOUT;
  const request = requestOf(app, caller, checkout, step, checkout.paymentId ?? 0);
  const earlier = await findAnswer(app, request);
  if (earlier !== undefined) return earlier;
  if (checkout.type === PAY_COMMIT) return commit(app, caller, checkout, request, respond);
  const begun = await logRefusals(app, caller, checkout, () => beginOrder(app, caller, game, checkout));
  const description = `${game.name}: ${begun.mod.name}`;
  if (checkout.type === PAY_INTENT) {
    const payment = await openPayment(app, begun.payment, description);
    const make = (transaction: Transaction) => respond.pending(transaction, payment, begun.mod, game);
    return app.db.write((transaction) => answerOnce(app, transaction, request, () => make(transaction)));
  }
  await chargePayment(app, begun.payment, required(checkout.methodId, 'payment_method_id'), description);
  const payment = await settledPayment(app, begun.payment.id);
  // The provider takes its time: the same request, or a commit, asks again.
  if (payment.status === 'pending')
    return app.db.write((transaction) => respond.pending(transaction, payment, begun.mod, game));
  return complete(app, caller, payment, respond, request);
}

function required<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'required' }] });
  return value;
}

async function commit(
  app: App,
  caller: UserCaller,
  checkout: MoneyCheckout,
  request: KeyedRequest,
  respond: Responses,
): Promise<string> {
  const order = await store.orderOf(app.db, required(checkout.paymentId, 'transaction_id'));
  if (order?.user_id !== caller.userId || order.mod_id !== checkout.modId)
    throw new ApiError('MONETIZATION_UNEXPECTED_OPERATION', { fields: [{ field: 'transaction_id', rule: 'invalid' }] });
  return complete(app, caller, await settledPayment(app, order.payment_id), respond, request);
}

interface Begun {
  readonly payment: PaymentRow;
  readonly mod: ModRow;
}

/**
 * Records the payment and the mod that it is for. An order that a request with this key has begun, or that still waits
 * for its payment, is continued.
 */
function beginOrder(app: App, caller: UserCaller, game: GameRow, checkout: MoneyCheckout): Promise<Begun> {
  const { userId } = caller;
  const provider = requireGateway(app).name;
  const since = app.clock.now() - DAY;
  return app.db.write(async (transaction) => {
    const mod = (await lockMods(transaction, [checkout.modId])).get(checkout.modId)!;
    const begun = await store.orderByKey(transaction, userId, mod.id, checkout.key, since);
    if (!begun) {
      const { terms } = await requireBuyable(transaction, caller, game.id, mod.id, undefined);
      await requireMaySpend(app, transaction, caller, mod, terms);
      requireInStock(mod);
    }
    const order = begun ?? (await store.openOrder(transaction, userId, mod.id, mod.price));
    const payment = order
      ? await paymentIn(transaction, order.payment_id)
      : await beginPaymentFor(app, transaction, mod, { caller, key: checkout.key, provider });
    if (checkout.displayAmount !== undefined && checkout.displayAmount !== payment.price) throw priceMismatch();
    if (!order) await addOrder(app, transaction, payment, mod, checkout);
    return { payment, mod };
  });
}

async function beginPaymentFor(app: App, transaction: Transaction, mod: ModRow, paying: Paying): Promise<PaymentRow> {
  const { balance, deficit } = await tokensOwned(transaction, mod.game_id, paying.caller.userId);
  const spendable = balance - deficit;
  const pack = await packToBuy(transaction, mod, Math.max(1, mod.price - spendable));
  if (!pack) throw new ApiError('MONETIZATION_SKU_MISSING', { fields: [{ field: 'mod_id', rule: 'not_for_sale' }] });
  if (spendable + pack.tokens < mod.price) throw insufficientFunds();
  return beginPayment(app, transaction, { ...paying, pack });
}

const addOrder = (app: App, { query }: Transaction, payment: PaymentRow, mod: ModRow, { subscribe }: Checkout) =>
  store.addOrder(query, {
    payment_id: payment.id,
    user_id: payment.user_id,
    game_id: mod.game_id,
    mod_id: mod.id,
    price: mod.price,
    subscribe: Number(subscribe),
    status: 'open',
    purchase_id: 0,
    date_added: app.clock.now(),
  });

/** Hands the mod over once the payment has arrived, whoever notices it first: the buyer, the page or a job. */
async function complete(
  app: App,
  caller: UserCaller,
  payment: PaymentRow,
  respond: Responses,
  request: KeyedRequest,
): Promise<string> {
  if (payment.status !== 'paid') throw new ApiError('MONETIZATION_PAYMENT_FAILED');
  const { refused } = await handOver(app, caller, payment.id);
  if (refused) throw refused;
  return answerBought(app, request, respond.paid, (transaction) => store.orderOf(transaction, payment.id));
}

/** Sells the ordered mod for the price of the order; if that is not possible any more, the money goes back. */
async function handOver(app: App, caller: UserCaller, paymentId: number): Promise<{ refused?: ApiError }> {
  const { mod_id: modId } = (await store.orderOf(app.db, paymentId))!;
  try {
    await app.db.write(async (transaction) => {
      await lockMods(transaction, [modId]);
      const order = (await store.lockOrder(transaction, paymentId))!;
      if (order.status !== 'open') return;
      const purchase_id = await sellOrdered(app, transaction, caller, order, modId);
      await store.changeOrder(transaction.query, paymentId, { status: 'bought', purchase_id });
    });
    return {};
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await giveUp(app, paymentId);
    return { refused: error };
  }
}

/** The mod cannot be handed over: the buyer gets the money back, or keeps the tokens if some of them are spent. */
const giveUp = (app: App, paymentId: number): Promise<void> =>
  app.db.write(async (transaction) => {
    const payment = await lockPayment(transaction, paymentId);
    const order = await store.lockOrder(transaction, paymentId);
    if (order?.status !== 'open') return;
    await store.changeOrder(transaction.query, paymentId, { status: 'failed' });
    if (payment.status === 'paid') await returnUnspent(app, transaction, payment, 'purchases.give-up', 0);
  });

async function returnUnspent(
  app: App,
  transaction: Transaction,
  payment: PaymentRow,
  operation: string,
  actor: number,
) {
  const { balance } = await tokensOwned(transaction, payment.game_id, payment.user_id);
  if (balance >= payment.tokens) await giveBack(app, transaction, payment, { operation, actor });
}

export const COMPLETE_ORDER = 'purchases.complete-order';
export const REVERSE_ORDER = 'purchases.reverse-order';

interface OrderJob {
  readonly paymentId: number;
}

const enqueue = (app: App, transaction: Transaction, kind: string, paymentId: number) =>
  app.jobs.enqueue(transaction, kind, { paymentId }, { key: String(paymentId) });

/** The job survives a crash between the payment and the purchase. */
export async function orderPaid(app: App, transaction: Transaction, paymentId: number): Promise<void> {
  if (await store.orderOf(transaction, paymentId)) await enqueue(app, transaction, COMPLETE_ORDER, paymentId);
}

export async function paymentDisputed(app: App, transaction: Transaction, paymentId: number): Promise<void> {
  await enqueue(app, transaction, REVERSE_ORDER, paymentId);
}

/** The buyer of an order that a job completes. */
export const buyerWithoutRequest = (userId: number): UserCaller => ({
  ...OPERATOR,
  admin: false,
  staff: 0,
  userId,
  inTeams: true,
});

/** For buyers who do not come back to commit. */
export async function completeOrder(app: App, { paymentId }: OrderJob): Promise<void> {
  const order = (await store.orderOf(app.db, paymentId))!;
  const buyer = await findUser(app, order.user_id);
  if (buyer?.status === USER_DELETED) return giveUp(app, paymentId);
  await handOver(app, buyerWithoutRequest(order.user_id), paymentId);
}

/**
 * The buyer's bank took the money back, so the mod goes back as well: its price settles the deficit. What else the buyer
 * bought since the payment follows, the newest first, until nothing is owed.
 */
export async function reverseOrder(app: App, { paymentId }: OrderJob, { heartbeat }: RunningJob): Promise<void> {
  while (await app.db.write((transaction) => reverseStep(app, transaction, paymentId))) await heartbeat();
}

async function reverseStep(app: App, transaction: Transaction, paymentId: number): Promise<boolean> {
  const payment = await paymentIn(transaction, paymentId);
  const found = await purchaseToReverse(transaction, payment);
  if (!found) return false;
  const mod = (await lockMods(transaction, [found.mod_id])).get(found.mod_id);
  const purchase = await store.lockById(transaction, found.id);
  // Somebody else has refunded it; the next step looks again.
  if (purchase?.status !== 'paid') return true;
  await refund(app, transaction, purchase, mod, { operation: 'payments.dispute', actor: 0 });
  const subject = { resource: 'purchases', id: purchase.id, gameId: purchase.game_id };
  const data = { mod_id: purchase.mod_id, user_id: purchase.user_id, price: purchase.price, payment_id: paymentId };
  await audit(app, transaction, { actor: 0, action: 'purchases.dispute', subject, data });
  return true;
}

async function purchaseToReverse(transaction: Transaction, payment: PaymentRow) {
  const order = await store.orderOf(transaction, payment.id);
  const ordered = order && (await store.byId(transaction, order.purchase_id));
  if (ordered?.status === 'paid') return ordered;
  const { deficit } = await tokensOwned(transaction, payment.game_id, payment.user_id);
  return deficit === 0
    ? undefined
    : store.newestSince(transaction, payment.user_id, payment.game_id, payment.date_paid);
}
