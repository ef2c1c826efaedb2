import { requireGameRow } from '../../catalogue/games/games.ts';
import {
  hasLiveFile,
  levelsOf,
  lockMods,
  type ModRow,
  refreshMod,
  requireMod,
  setOffer,
} from '../../catalogue/mods/mods.ts';
import { subscribeToAll } from '../../community/subscriptions/subscriptions.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { balancesOf, post, tokenAccount } from '../ledger/ledger.ts';
import { MOD_LIMITED, MOD_ON_MARKETPLACE, MOD_SELLS } from '../offers/offers.ts';
import { GAME_HAS_MARKETPLACE, requireSelling } from '../terms/switches.ts';
import { sharesOf, termsOf } from '../terms/terms.ts';
import * as store from './store.ts';

export type { PurchaseRow } from './store.ts';

const DAY = 86_400;
const CHECKOUT = 'purchase';
/** As for subscribers: a mod that was public is no secret. */
const HIDDEN = { closed: 'SUBSCRIBE_FAILED_MOD_HIDDEN', hidden: 'SUBSCRIBE_FAILED_MOD_HIDDEN' } as const;
/** `type` of a checkout: with the tokens of the wallet. */
const WITH_TOKENS = 0;

export interface Checkout {
  readonly gameId: number;
  readonly modId: number;
  readonly type: number;
  readonly key: string;
  /** The price that the buyer saw. */
  readonly displayAmount: number | undefined;
  readonly subscribe: boolean;
}

export interface Sale {
  readonly purchase: store.PurchaseRow;
  readonly balance: number;
  readonly deficit: number;
  readonly mod: ModRow;
}

type Game = Awaited<ReturnType<typeof requireGameRow>>;

/**
 * Buys a mod with tokens, once per key: a repeated request gets the first response byte for byte. `respond` makes the
 * response within the transaction, so that the two are stored together.
 */
export async function buyMod(
  app: App,
  caller: UserCaller,
  checkout: Checkout,
  respond: (transaction: Transaction, sale: Sale, game: Game) => Promise<string>,
): Promise<string> {
  const game = await requireGameRow(app, caller, checkout.gameId);
  await requireMod(app.db, caller, checkout.gameId, checkout.modId, HIDDEN);
  requireSelling(app, game);
  if (checkout.type !== WITH_TOKENS)
    throw new ApiError('MONETIZATION_UNEXPECTED_OPERATION', { fields: [{ field: 'type', rule: 'invalid' }] });
  const { gameId: game_id, modId: mod_id, key: request_key, ...sent } = checkout;
  const request = { user_id: caller.userId, game_id, operation: CHECKOUT, request_key };
  const digest = app.secrets.digest(JSON.stringify([mod_id, sent.type, sent.displayAmount ?? null, sent.subscribe]));
  const now = app.clock.now();
  return app.db.write(async (transaction) => {
    // The mod comes before the key: everything that sells or refunds it locks it first.
    const mod = (await lockMods(transaction, [mod_id])).get(mod_id);
    const claimed = { ...request, digest, mod_id, date_added: now };
    if (!(await store.claim(transaction, claimed, now - DAY))) return replay(transaction, request, digest);
    await requireMod(transaction, caller, game_id, mod_id, HIDDEN);
    const sale = await sell(app, transaction, caller, game, mod!, checkout);
    const response = await respond(transaction, sale, game);
    await store.answer(transaction, request, response);
    return response;
  });
}

async function replay(transaction: Transaction, request: store.RequestName, digest: string): Promise<string> {
  const first = await store.answered(transaction, request);
  if (first?.digest === digest) return first.response;
  throw new ApiError('MONETIZATION_REQUEST_ERROR', { fields: [{ field: 'idempotent_key', rule: 'taken' }] });
}

async function sell(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  game: Game,
  mod: ModRow,
  { key, displayAmount, subscribe }: Checkout,
): Promise<Sale> {
  const { userId } = caller;
  const { id: termsId, terms } = await termsOf(transaction, game.id);
  if (terms.in_game_only && caller.gameId !== game.id) throw new ApiError('MONETIZATION_IN_GAME_ONLY');
  await requireForSale(transaction, game, mod);
  await requireNotOwned(transaction, caller, mod);
  if (displayAmount !== undefined && displayAmount !== mod.price)
    throw new ApiError('MONETIZATION_PRICE_MISMATCH', { fields: [{ field: 'display_amount', rule: 'invalid' }] });
  const sold = await takeFromStock(app, transaction, mod);
  if (subscribe) await subscribeToAll(app, transaction, caller, [sold]);
  const { price } = mod;
  const { fee, seller, studio } = sharesOf(price, terms);
  const wallet = tokenAccount('wallet', game.id, userId);
  const gatewayUuid = app.random.uuid();
  const transactionId = await post(app, transaction, {
    kind: 'purchase',
    gameId: game.id,
    cause: { operation: CHECKOUT, actor: userId, key, provider: 'wallet', reference: gatewayUuid },
    entries: [
      { account: wallet, amount: -price },
      { account: tokenAccount('platform_fee', game.id), amount: fee },
      { account: tokenAccount('pending_earnings', game.id, mod.submitted_by), amount: seller },
      { account: tokenAccount('studio_share', game.id), amount: studio },
    ].filter(({ amount }) => amount !== 0),
  });
  const purchase = await store.add(transaction.query, {
    user_id: userId,
    game_id: game.id,
    mod_id: mod.id,
    terms_id: termsId,
    price,
    fee,
    gateway_uuid: gatewayUuid,
    status: 'paid',
    transaction_id: transactionId,
    date_added: app.clock.now(),
    date_refunded: 0,
  });
  const [balance = 0, deficit = 0] = await balancesOf(transaction, [wallet, tokenAccount('deficit', game.id, userId)]);
  return { purchase, balance, deficit: Math.abs(deficit), mod: sold };
}

const refusal = (error: ErrorName, field: string, rule: 'not_for_sale' | 'already_owned' | 'sold_out'): ApiError =>
  new ApiError(error, { fields: [{ field, rule }] });

/** Why the mod cannot be bought now, each reason with its own error. */
async function requireForSale(transaction: Transaction, game: Game, mod: ModRow): Promise<void> {
  if (mod.dmca === 1) throw new ApiError('SUBSCRIBE_FAILED_DMCA_COMPLAINT');
  if (!(await hasLiveFile(transaction, mod.id))) throw new ApiError('SUBSCRIBE_FAILED_MODFILE_MISSING');
  if ((mod.monetization_options & MOD_SELLS) === 0 || mod.price === 0)
    throw new ApiError('MONETIZATION_MOD_MONETIZATION_DISABLED');
  if ((game.monetization_options & GAME_HAS_MARKETPLACE) === 0)
    throw refusal('MONETIZATION_GAME_MARKETPLACE_DISABLED', 'game_id', 'not_for_sale');
  if ((mod.monetization_options & MOD_ON_MARKETPLACE) === 0)
    throw refusal('MONETIZATION_MOD_MARKETPLACE_DISABLED', 'mod_id', 'not_for_sale');
}

/** The team of a mod has it already, so nobody pays themselves. */
async function requireNotOwned(transaction: Transaction, caller: UserCaller, mod: ModRow): Promise<void> {
  const { mod: level } = await levelsOf(transaction, { ...caller, admin: false }, mod);
  const isOwn = level > 0 || mod.submitted_by === caller.userId;
  if (isOwn || (await store.standing(transaction, caller.userId, mod.id)))
    throw refusal('MONETIZATION_MARKETPLACE_ALREADY_OWNED', 'mod_id', 'already_owned');
}

async function takeFromStock(app: App, transaction: Transaction, mod: ModRow): Promise<ModRow> {
  if ((mod.monetization_options & MOD_LIMITED) === 0) return mod;
  if (mod.stock === 0) throw refusal('MONETIZATION_SOLD_OUT', 'mod_id', 'sold_out');
  const sold = await setOffer(transaction, mod.id, { stock: mod.stock - 1 });
  await refreshMod(app, transaction, sold);
  return sold;
}

/** What someone has bought is not deleted; its team can hide it from new buyers. */
export async function refuseDeletion(_: App, transaction: Transaction, mod: ModRow): Promise<void> {
  if (await store.isSold(transaction, mod.id)) throw new ApiError('MOD_CANNOT_DELETE_PURCHASED');
}

/** Ownership against the books: every purchase has its sale, and a refunded one its reversal. */
export async function checkPurchases(app: App): Promise<string[]> {
  const { query } = app.db.withLongTimeouts;
  const wrong = await store.disagreeing(query);
  const missing = await store.unrecorded(query);
  return [
    ...wrong.map(({ id, status }) => `Purchase ${id} is ${status}, and the books say otherwise.`),
    ...missing.map(({ id }) => `Transaction ${id} is a sale without a purchase.`),
  ];
}

/** Keys may be used again after a day. */
export const forgetKeys = (app: App): Promise<void> =>
  app.db.write(async (transaction) => void (await store.forgetUntil(transaction, app.clock.now() - DAY)));
