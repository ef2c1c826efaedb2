import { type GameRow, requireGameRow } from '../../catalogue/games/games.ts';
import { lockMods, type ModRow, requireMod, requireReadMod } from '../../catalogue/mods/mods.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import { logRefusals, requireMaySpend } from '../spending/guards.ts';
import { requireMarketplace, requireSelling } from '../terms/switches.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import { type KeyedRequest, keepAnswer, sameRequest, takeKey } from './keys.ts';
import { type Market, readMarket } from './market.ts';
import { book, CHECKOUT, handOut, isLimited, type PaidResponse, requireForSale, requireNotOwned } from './selling.ts';
import * as store from './store.ts';

export type { Sale } from './selling.ts';
export type { PurchaseRow } from './store.ts';

/** As for subscribers: a mod that was public is no secret. */
const HIDDEN = { closed: 'SUBSCRIBE_FAILED_MOD_HIDDEN', hidden: 'SUBSCRIBE_FAILED_MOD_HIDDEN' } as const;

/** The `type` of a checkout that the tokens of the wallet pay for. */
export const WITH_TOKENS = 0;

export interface Checkout {
  readonly gameId: number;
  readonly modId: number;
  readonly type: number;
  readonly key: string;
  /** The price that the buyer saw. */
  readonly displayAmount: number | undefined;
  readonly subscribe: boolean;
}

/** The request of a checkout. `step` separates the keys of operations with several steps. */
export function requestOf(
  app: App,
  { userId }: UserCaller,
  { gameId, modId, type, key, displayAmount, subscribe }: Checkout,
  step: string,
  ...further: readonly (string | number)[]
): KeyedRequest {
  const sent = [modId, type, displayAmount ?? null, subscribe, ...further];
  return {
    name: { user_id: userId, game_id: gameId, operation: step, request_key: key },
    digest: app.secrets.digest(JSON.stringify(sent)),
    modId,
  };
}

/** The game and the mod of a checkout, as far as the caller may see them and the switches allow. */
export async function requireMarket(app: App, caller: UserCaller, { gameId, modId }: Checkout): Promise<GameRow> {
  const game = await requireGameRow(app, caller, gameId);
  await requireMod(app.db, caller, gameId, modId, HIDDEN);
  requireSelling(app, game);
  requireMarketplace(app, 'mod_id');
  return game;
}

/**
 * Buys a mod with tokens, once per key: a repeated request gets the first response byte for byte. The response is made
 * within the transaction, so that the two are stored together.
 */
export async function buyMod(app: App, caller: UserCaller, checkout: Checkout, respond: PaidResponse): Promise<string> {
  const request = requestOf(app, caller, checkout, CHECKOUT);
  const buy = async (transaction: Transaction) => {
    const [first, market] = await answersTo([
      takeKey(app, transaction, request),
      readMarket(transaction, caller, checkout),
    ]);
    await requireReadMod(transaction, caller, checkout.gameId, market?.mod, HIDDEN);
    requireSelling(app, market!.game);
    requireMarketplace(app, 'mod_id');
    if (first) return sameRequest(first, request);
    return answerNew(app, transaction, caller, checkout, { request, respond, market: market! });
  };
  return logRefusals(app, caller, checkout, () => app.db.write(buy));
}

interface NewPurchase {
  readonly request: KeyedRequest;
  readonly respond: PaidResponse;
  readonly market: Market;
}

async function answerNew(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  checkout: Checkout,
  { request, respond, market: before }: NewPurchase,
): Promise<string> {
  const market = await withStock(transaction, caller, checkout, before);
  const { game, mod, terms } = market;
  requireBuyableAs(caller, market, checkout.displayAmount);
  await requireMaySpend(app, transaction, caller, mod, terms);
  await handOut(app, transaction, caller, mod, checkout.subscribe);
  const shown = await respond.show(transaction);
  const bargain = { ...checkout, price: mod.price };
  const sale = await book(app, transaction, caller, mod, bargain, market).catch(async (error: unknown) => {
    throw await withDeficit(error, transaction, caller, game.id);
  });
  const response = respond.paid(sale, { mod, game, buyer: { username: market.buyerName } }, shown);
  await keepAnswer(app, transaction, request, response);
  return response;
}

/**
 * Copies of a limited mod are sold one after the other. Of any other mod, sales do not wait for each other before the
 * books: the operation has locked it against deletion, and a sale that began before a change may end after it.
 */
async function withStock(
  transaction: Transaction,
  caller: UserCaller,
  checkout: Checkout,
  market: Market,
): Promise<Market> {
  if (!isLimited(market.mod)) return market;
  await lockMods(transaction, [checkout.modId]);
  return (await readMarket(transaction, caller, checkout))!;
}

/** A wallet that owes tokens is another reason than one that was never filled. The refusal has written nothing. */
async function withDeficit(error: unknown, transaction: Transaction, { userId }: UserCaller, gameId: number) {
  if (!(error instanceof ApiError) || error.error !== 'MONETIZATION_INSUFFICIENT_FUNDS') return error;
  const { deficit } = await tokensOwned(transaction, gameId, userId);
  return deficit > 0
    ? new ApiError('MONETIZATION_WALLET_ERROR', { fields: [{ field: 'wallet', rule: 'owes_tokens' }] })
    : error;
}

/** Everything that can keep the caller from buying the locked mod, except for the means to pay. */
export async function requireBuyable(
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  modId: number,
  displayAmount: number | undefined,
): Promise<Market> {
  const market = await readMarket(transaction, caller, { gameId, modId });
  await requireReadMod(transaction, caller, gameId, market?.mod, HIDDEN);
  requireBuyableAs(caller, market!, displayAmount);
  return market!;
}

function requireBuyableAs(caller: UserCaller, market: Market, displayAmount: number | undefined): void {
  const { game, mod, terms } = market;
  if (market.isBuyerLocked) throw new ApiError('MONETIZATION_USER_MONETIZATION_DISABLED');
  if (terms.terms.in_game_only && caller.gameId !== game.id) throw new ApiError('MONETIZATION_IN_GAME_ONLY');
  requireForSale(market);
  requireNotOwned(market, caller);
  if (displayAmount !== undefined && displayAmount !== mod.price) throw priceMismatch();
}

export const priceMismatch = (): ApiError =>
  new ApiError('MONETIZATION_PRICE_MISMATCH', { fields: [{ field: 'display_amount', rule: 'invalid' }] });

/** What someone has bought, or is about to pay for, is not deleted; its team can hide it from new buyers. */
export async function refuseDeletion(_: App, transaction: Transaction, mod: ModRow): Promise<void> {
  if (await store.isSold(transaction, mod.id)) throw new ApiError('MOD_CANNOT_DELETE_PURCHASED');
  if (await store.isOrdered(transaction, mod.id)) throw new ApiError('MOD_NO_DELETE_PERMISSION_HAS_POTENTIAL_OWNERS');
}

/** Ownership against the books: every purchase has its sale, and a refunded one its reversal. */
export async function checkPurchases(app: App): Promise<LaterText[]> {
  const { query } = app.db.withLongTimeouts;
  const wrong = await store.disagreeing(query);
  const missing = await store.unrecorded(query);
  return [
    ...wrong.map(({ id, status }): LaterText => ({ name: 'ledger_purchase', values: { id, status } })),
    ...missing.map(({ id: transaction }): LaterText => ({ name: 'ledger_sale', values: { transaction } })),
  ];
}
