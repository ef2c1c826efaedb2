import { requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import { lockBalances, moneyAccount, post, sellerAccount, tokenAccount } from '../ledger/ledger.ts';
import { termsOf } from '../terms/terms.ts';
import { requireApproved, requirePayoutGateway, requireReadyAccount } from './sellers.ts';
import * as store from './store.ts';

export type { PayoutRow, PayoutStatus } from './store.ts';

/** A repeated request with the same key returns the same payout for this long. */
const KEY_SECONDS = 86_400;

export interface PayoutRequest {
  readonly gameId: number;
  readonly key: string;
  /** Of the terms unless it is named. */
  readonly currency: string | undefined;
  /** Fee included; everything unless it is named. */
  readonly amount: number | undefined;
}

/** A seller asks for what they have earned. The money is set aside before the provider hears of it. */
export async function requestPayout(app: App, caller: UserCaller, request: PayoutRequest): Promise<store.PayoutRow> {
  const { userId } = caller;
  await requireGame(app.db, caller, request.gameId);
  const earlier = await earlierPayout(app, app.db, userId, request);
  if (earlier) return earlier;
  const gateway = requirePayoutGateway(app);
  const account = await requireReadyAccount(app, gateway, userId);
  return app.db.write(async (transaction) => {
    // Requests with one key that arrive together begin one payout.
    await takeAdvisoryLock(transaction, `payouts/${userId}/${request.gameId}/${request.key}`);
    const known = await earlierPayout(app, transaction, userId, request);
    if (known) return known;
    await requireApproved(transaction, userId);
    const { terms } = await termsOf(transaction, request.gameId);
    return beginPayout(app, transaction, {
      userId,
      gameId: request.gameId,
      currency: request.currency ?? terms.currency,
      requested: request.amount ?? 0,
      key: request.key,
      period: '',
      provider: gateway.name,
      account,
      actor: userId,
    });
  });
}

async function earlierPayout(
  app: App,
  reader: Parameters<typeof store.byRequest>[0],
  userId: number,
  { gameId, key, currency, amount = 0 }: PayoutRequest,
): Promise<store.PayoutRow | undefined> {
  const earlier = await store.byRequest(reader, userId, gameId, key, app.clock.now() - KEY_SECONDS);
  if (!earlier) return undefined;
  if (earlier.requested !== amount || (currency !== undefined && earlier.currency !== currency))
    throw new ApiError('MONETIZATION_REQUEST_ERROR', { fields: [{ field: 'idempotent_key', rule: 'taken' }] });
  return earlier;
}

export interface NewPayout {
  readonly userId: number;
  readonly gameId: number;
  readonly currency: string;
  /** Fee included; 0 for everything. */
  readonly requested: number;
  readonly key: string;
  readonly period: string;
  readonly provider: string;
  readonly account: string;
  readonly actor: number;
}

/** Sets the money aside. What the seller owes is not paid out, and neither is less than the terms say. */
export async function beginPayout(app: App, transaction: Transaction, payout: NewPayout): Promise<store.PayoutRow> {
  const { userId, gameId, currency, requested, key, period, provider, account, actor } = payout;
  const { terms } = await termsOf(transaction, gameId);
  const earnings = sellerAccount('earnings', gameId, userId, currency);
  const deficit = sellerAccount('earnings_deficit', gameId, userId, currency);
  const transit = sellerAccount('payouts_in_transit', gameId, userId, currency);
  const fees = moneyAccount('payout_fees', gameId, currency);
  const owedTokens = tokenAccount('deficit', gameId, userId);
  const locked = await lockBalances(app, transaction, [earnings, deficit, owedTokens, transit, fees]);
  const [balance = 0, owed = 0, tokens = 0] = locked;
  if (tokens !== 0)
    throw new ApiError('MONETIZATION_WALLET_ERROR', { fields: [{ field: 'wallet', rule: 'insufficient_funds' }] });
  const available = balance + owed;
  const total = requested || available;
  if (total > available || total < terms.payout_min)
    throw new ApiError('MONETIZATION_PAYOUT_ERROR', { fields: [{ field: 'amount', rule: 'insufficient_funds' }] });
  const fee = terms.payout_fee;
  const reference = app.random.uuid();
  const transactionId = await post(app, transaction, {
    kind: 'payout',
    gameId,
    cause: { operation: 'request-payout', actor, key, provider, reference },
    entries: [
      { account: earnings, amount: -total },
      { account: transit, amount: total - fee },
      { account: fees, amount: fee },
    ],
  });
  const now = app.clock.now();
  return store.add(transaction.query, {
    user_id: userId,
    game_id: gameId,
    currency,
    amount: total - fee,
    fee,
    requested,
    provider,
    account,
    reference,
    attempt: 0,
    receipt: '',
    request_key: key,
    period,
    status: 'requested',
    reason: '',
    transaction_id: transactionId,
    paid_id: 0,
    date_added: now,
    date_sent: 0,
    date_paid: 0,
    date_ended: 0,
    date_next: provider === 'manual' ? 0 : now,
  });
}

type Page = { readonly limit: number; readonly offset: number };

export const listOwnPayouts = (app: App, { userId }: UserCaller, page: Page) =>
  store.list(app.db.query, { userId }, page);

export async function requireOwnPayout(app: App, { userId }: UserCaller, id: number): Promise<store.PayoutRow> {
  const payout = await store.byId(app.db, id);
  if (payout?.user_id !== userId) throw new ApiError('RESOURCE_NOT_FOUND');
  return payout;
}

export async function listGamePayouts(app: App, caller: UserCaller, gameId: number, page: Page) {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  return store.list(app.db.query, { gameId }, page);
}

export function listAllPayouts(app: App, { admin }: UserCaller, status: store.PayoutStatus | undefined, page: Page) {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.list(app.db.query, { status }, page);
}

/** Every payout has its transactions, and one that came back a transaction that reverses it. */
export async function checkPayouts(app: App): Promise<LaterText[]> {
  const rows = await store.disagreeing(app.db.withLongTimeouts.query);
  return rows.map(({ id, status }) => ({ name: 'ledger_payout', values: { id, status } }));
}
