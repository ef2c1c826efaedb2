import { requireGameRow } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import { audit } from '../../records/audit/audit.ts';
import { gatewayNamed, gatewayOf, type PaymentGateway } from '../gateways/gateways.ts';
import { readStripeNotification } from '../gateways/stripe.ts';
import { type Cause, insufficientFunds } from '../ledger/ledger.ts';
import { requireNotLocked } from '../marketplace-locks/marketplace-locks.ts';
import { type PackRow, requirePack } from '../packs/packs.ts';
import { logRefusals, recordAttempt, requireMayPay } from '../spending/guards.ts';
import { requireSelling } from '../terms/switches.ts';
import { taxedPrice, termsOf, termsOfDay } from '../terms/terms.ts';
import { creditTokens, takeTokensBack, walletBalance } from '../wallets/token-sales.ts';
import { paymentExtensions } from './extensions.ts';
import * as store from './store.ts';

export type { PaymentRow } from './store.ts';

const DAY = 86_400;
const YEAR = 365 * DAY;
/** A payment that nobody completes within this time has failed. */
const ABANDONED_SECONDS = DAY;
/** A repeated request with the same key returns the same payment for this long. */
const KEY_SECONDS = DAY;

export interface PackOrder {
  readonly gameId: number;
  readonly packId: number;
  readonly key: string;
}

/** Begins the payment for a token pack: the intent is committed before the provider hears of it. */
export async function orderPack(app: App, caller: UserCaller, order: PackOrder): Promise<store.PaymentRow> {
  const game = await requireGameRow(app, caller, order.gameId);
  await requirePack(app.db, order.gameId, order.packId);
  requireSelling(app, game);
  await requireNotLocked(app.db, caller.userId);
  const gateway = requireGateway(app);
  const payment = await logRefusals(app, caller, order, () =>
    app.db.write((transaction) => recordOrder(app, transaction, caller, order, gateway.name)),
  );
  return openPayment(app, payment, `${game.name}: ${payment.tokens} ${game.token_name}`);
}

/** The provider with which a payment begins. */
export function requireGateway(app: App): PaymentGateway {
  const gateway = gatewayOf(app);
  if (!gateway) throw new ApiError('MONETIZATION_IAP_NOT_CONFIGURED');
  return gateway;
}

/** Gives the payment an address at which the buyer pays, unless it has one. */
export async function openPayment(app: App, payment: store.PaymentRow, description: string): Promise<store.PaymentRow> {
  if (payment.url !== '') return payment;
  const { reference, price: amount, currency } = payment;
  const url = await gatewayNamed(payment.provider).open(app, { reference, amount, currency, description });
  await app.db.write(({ query }) => store.setUrl(query, payment.id, url));
  return { ...payment, url };
}

/** Pays with a method that the provider knows. Repeated, it does nothing. */
export async function chargePayment(app: App, payment: store.PaymentRow, methodId: string, description: string) {
  const { reference, price: amount, currency } = payment;
  await gatewayNamed(payment.provider).charge(app, { reference, amount, currency, description }, methodId);
}

/** The payment, after asking its provider about it. */
export async function settledPayment(app: App, id: number): Promise<store.PaymentRow> {
  const payment = (await store.byId(app.db, id))!;
  if (payment.status !== 'pending' && payment.status !== 'failed') return payment;
  await settle(app, payment);
  return (await store.byId(app.db, id))!;
}

export const paymentIn = async (reader: Pick<Database, 'first'>, id: number) => (await store.byId(reader, id))!;
export const lockPayment = async (transaction: Transaction, id: number) => (await store.lockById(transaction, id))!;

async function recordOrder(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { gameId, packId, key }: PackOrder,
  provider: string,
): Promise<store.PaymentRow> {
  const now = app.clock.now();
  const { userId } = caller;
  const pack = await requirePack(transaction, gameId, packId);
  // Requests with one key that arrive together begin one payment.
  await takeAdvisoryLock(transaction, `payments/${userId}/${gameId}/${key}`);
  const earlier = await store.byRequest(transaction, userId, gameId, key, now - KEY_SECONDS);
  if (earlier && earlier.pack_id !== packId)
    throw new ApiError('MONETIZATION_REQUEST_ERROR', { fields: [{ field: 'idempotent_key', rule: 'taken' }] });
  return earlier ?? beginPayment(app, transaction, { caller, pack, key, provider });
}

export interface Paying {
  readonly caller: UserCaller;
  readonly key: string;
  readonly provider: string;
}

/** Records what a buyer is going to pay. Nothing has moved yet. */
export async function beginPayment(
  app: App,
  transaction: Transaction,
  { caller, pack, key, provider }: Paying & { readonly pack: PackRow },
): Promise<store.PaymentRow> {
  const { id: termsId, terms } = await termsOf(transaction, pack.game_id);
  await requireMayPay(app, transaction, caller, pack.game_id, terms);
  const { total, tax } = taxedPrice(pack.price, terms);
  const payment = await store.add(transaction.query, {
    user_id: caller.userId,
    game_id: pack.game_id,
    pack_id: pack.id,
    terms_id: termsId,
    tokens: pack.tokens,
    price: total,
    tax,
    currency: pack.currency,
    provider,
    reference: app.random.uuid(),
    url: '',
    request_key: key,
    status: 'pending',
    transaction_id: 0,
    date_added: app.clock.now(),
    date_paid: 0,
    date_ended: 0,
  });
  await recordAttempt(app, transaction, caller, payment, terms);
  return payment;
}

export async function requirePayment(app: App, { userId }: UserCaller, id: number): Promise<store.PaymentRow> {
  const payment = await store.byId(app.db, id);
  if (payment?.user_id !== userId) throw new ApiError('RESOURCE_NOT_FOUND');
  return payment;
}

export const listPayments = (app: App, { userId }: UserCaller, page: { limit: number; offset: number }) =>
  store.ofUser(app.db.query, userId, page);

/** Asks the provider about the payment with this reference, and records what it says. */
export async function settleReference(app: App, provider: string, reference: string): Promise<void> {
  const payment = await store.byReference(app.db, provider, reference);
  if (payment) await settle(app, payment);
}

async function settle(app: App, payment: store.PaymentRow): Promise<void> {
  const state = await gatewayNamed(payment.provider).stateOf(app, payment.reference);
  const isAbandoned = state === 'pending' && app.clock.now() - payment.date_added > ABANDONED_SECONDS;
  if (state === 'paid') await app.db.write((transaction) => receive(app, transaction, payment.id));
  else if (state === 'failed' || isAbandoned) await app.db.write((transaction) => fail(app, transaction, payment.id));
}

async function fail(app: App, transaction: Transaction, id: number): Promise<void> {
  const payment = await store.lockById(transaction, id);
  if (payment?.status !== 'pending') return;
  await store.change(transaction.query, id, { status: 'failed', date_ended: app.clock.now() });
}

/** Credits the tokens once, however often the provider reports the payment. */
async function receive(app: App, transaction: Transaction, id: number): Promise<void> {
  const payment = await store.lockById(transaction, id);
  // A payment that was given up can still arrive.
  if (payment?.status !== 'pending' && payment?.status !== 'failed') return;
  const cause = causeOf(payment, 'payments.receive', payment.user_id);
  const transactionId = await creditTokens(app, transaction, payment, cause);
  const now = app.clock.now();
  await store.change(transaction.query, id, {
    status: 'paid',
    transaction_id: transactionId,
    date_paid: now,
    date_ended: 0,
  });
  for (const { onPaid } of app.extensions.of(paymentExtensions)) await onPaid(app, transaction, id);
}

const causeOf = ({ provider, reference, request_key }: store.PaymentRow, operation: string, actor: number): Cause => ({
  operation,
  actor,
  provider,
  reference,
  key: request_key,
});

/** A buyer returns a pack whose tokens are all still there, within the terms of the day on which they bought it. */
export async function refundPayment(app: App, caller: UserCaller, id: number): Promise<store.PaymentRow> {
  await requirePayment(app, caller, id);
  return app.db.write(async (transaction) => {
    const payment = (await store.lockById(transaction, id))!;
    await requireRefundable(app, transaction, payment);
    return giveBack(app, transaction, payment, { operation: 'refund-payment', actor: caller.userId });
  });
}

/** Returns the money of a pack: the books first, and then a job tells the provider. */
export async function giveBack(
  app: App,
  transaction: Transaction,
  payment: store.PaymentRow,
  { operation, actor }: Pick<Cause, 'operation' | 'actor'>,
): Promise<store.PaymentRow> {
  const { id, provider, reference } = payment;
  const cause = causeOf(payment, operation, actor);
  await takeTokensBack(app, transaction, payment, { kind: 'pack_refund', cause, reverses: payment.transaction_id });
  const row = await store.change(transaction.query, id, { status: 'refunded', date_ended: app.clock.now() });
  await app.jobs.enqueue(transaction, REFUND_AT_PROVIDER, { provider, reference }, { key: reference });
  return row;
}

const notRefundable = () =>
  new ApiError('MONETIZATION_UNEXPECTED_OPERATION', { fields: [{ field: 'payment_id', rule: 'not_refundable' }] });

async function requireRefundable(app: App, transaction: Transaction, payment: store.PaymentRow): Promise<void> {
  const { user_id, game_id, tokens, status, date_paid } = payment;
  const now = app.clock.now();
  const terms = await termsOfDay(transaction, payment.terms_id);
  if (status !== 'paid' || now - date_paid > terms.pack_refund_days * DAY) throw notRefundable();
  if ((await walletBalance(app, transaction, payment)) < tokens) throw insufficientFunds();
  const refunds = await store.refundsSince(transaction, user_id, game_id, now - YEAR);
  if (refunds >= terms.pack_refunds_per_year) throw notRefundable();
}

export const REFUND_AT_PROVIDER = 'payments.refund';

/** The books come first; the provider is told by a job, again and again until it has answered. */
export const refundAtProvider = (app: App, { provider, reference }: { provider: string; reference: string }) =>
  gatewayNamed(provider).refund(app, reference);

/** The buyer's bank took the money back: the tokens go, and what was spent of them is owed. */
export async function disputeReference(app: App, provider: string, reference: string): Promise<boolean> {
  const found = await store.byReference(app.db, provider, reference);
  if (!found) return false;
  return app.db.write(async (transaction) => {
    const payment = (await store.lockById(transaction, found.id))!;
    if (payment.status !== 'paid') return false;
    const cause = causeOf(payment, 'payments.dispute', 0);
    await takeTokensBack(app, transaction, payment, { kind: 'chargeback', cause, reverses: payment.transaction_id });
    await store.change(transaction.query, payment.id, { status: 'disputed', date_ended: app.clock.now() });
    for (const { onDisputed } of app.extensions.of(paymentExtensions)) await onDisputed(app, transaction, payment.id);
    const subject = { resource: 'payments', id: payment.id, gameId: payment.game_id };
    await audit(app, transaction, { actor: 0, action: 'payments.dispute', subject, data: { tokens: payment.tokens } });
    return true;
  });
}

/** An event of Stripe. What it says is not believed but asked for, so events may repeat and arrive in any order. */
export async function receiveNotification(app: App, payload: string, signature: string): Promise<void> {
  const notification = await readStripeNotification(app, payload, signature);
  if (!notification) return;
  const { reference, isReversal } = notification;
  await settleReference(app, 'stripe', reference);
  if (isReversal) await disputeReference(app, 'stripe', reference);
}

const SETTLED_AT_ONCE = 100;

/** For payments whose outcome the provider could not report: asks it again. */
export async function settlePending(app: App, heartbeat: () => Promise<void>): Promise<void> {
  for (let last = 0; ; ) {
    const pending = await store.pendingAfter(app.db, last, SETTLED_AT_ONCE);
    for (const payment of pending) await settle(app, payment);
    if (pending.length < SETTLED_AT_ONCE) return;
    last = pending.at(-1)!.id;
    await heartbeat();
  }
}

/** Every paid payment has its transaction, and one that was taken back has a transaction that reverses it. */
export async function checkPayments(app: App): Promise<LaterText[]> {
  const rows = await store.disagreeing(app.db.withLongTimeouts.query);
  return rows.map(({ id, status }) => ({ name: 'ledger_payment', values: { id, status } }));
}
