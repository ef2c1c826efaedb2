import { type GameRow, gameRowIn } from '../../catalogue/games/games.ts';
import {
  hasLiveFile,
  levelsOf,
  lockMods,
  MOD_ACCEPTED,
  type ModRow,
  refreshMod,
  setOffer,
} from '../../catalogue/mods/mods.ts';
import { subscribeToAll } from '../../community/subscriptions/subscriptions.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { recordEarnings } from '../earnings/earnings.ts';
import { post, tokenAccount } from '../ledger/ledger.ts';
import { requireNotLocked } from '../marketplace-locks/marketplace-locks.ts';
import { MOD_LIMITED, MOD_ON_MARKETPLACE, MOD_SELLS } from '../offers/offers.ts';
import { divideEarnings, type Share, sharesNow } from '../revenue-teams/revenue-teams.ts';
import { recordSpending } from '../spending/guards.ts';
import { GAME_HAS_MARKETPLACE } from '../terms/switches.ts';
import { type DatedTerms, sharesOf, termsOf } from '../terms/terms.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import { answerOnce, type KeyedRequest } from './keys.ts';
import * as store from './store.ts';

/** The id of the operation, as the cause of postings and as the scope of idempotency keys. */
export const CHECKOUT = 'purchase';

/** Every reason why a mod cannot be bought, whatever pays for it. */
export const BUYING_REFUSALS = [
  'SUBSCRIBE_FAILED_DMCA_COMPLAINT',
  'SUBSCRIBE_FAILED_MOD_HIDDEN',
  'SUBSCRIBE_FAILED_MODFILE_MISSING',
  'MOD_NOT_ACCEPTED',
  'MONETIZATION_SITE_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MONETIZATION_DISABLED',
  'MONETIZATION_MOD_MONETIZATION_DISABLED',
  'MONETIZATION_USER_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MARKETPLACE_DISABLED',
  'MONETIZATION_MOD_MARKETPLACE_DISABLED',
  'MONETIZATION_IN_GAME_ONLY',
  'MONETIZATION_MARKETPLACE_ALREADY_OWNED',
  'MONETIZATION_INSUFFICIENT_FUNDS',
  'MONETIZATION_SOLD_OUT',
  'MONETIZATION_REQUEST_ERROR',
] as const satisfies readonly ErrorName[];

export interface Sale {
  readonly purchase: store.PurchaseRow;
  readonly balance: number;
  readonly deficit: number;
  readonly mod: ModRow;
}

interface Bargain {
  readonly key: string;
  readonly price: number;
  readonly subscribe: boolean;
}

/** What was read to decide over a sale, and what it is divided by. */
export interface Conditions {
  readonly terms: DatedTerms;
  readonly shares: readonly Share[];
}

/** Sells a locked mod for tokens of the buyer's wallet. */
export async function sell(
  app: App,
  transaction: Transaction,
  buyer: UserCaller,
  game: GameRow,
  mod: ModRow,
  { key, price, subscribe }: Bargain,
  { terms: dated, shares }: Conditions,
): Promise<Sale> {
  const { userId } = buyer;
  const { id: termsId, terms } = dated;
  const sold = await takeFromStock(app, transaction, mod);
  if (subscribe) await subscribeToAll(app, transaction, buyer, [sold]);
  const { fee, seller, studio } = sharesOf(price, terms);
  const earned = divideEarnings(shares, mod, seller);
  const wallet = tokenAccount('wallet', game.id, userId);
  const gatewayUuid = app.random.uuid();
  const transactionId = await post(app, transaction, {
    kind: 'purchase',
    gameId: game.id,
    cause: { operation: CHECKOUT, actor: userId, key, provider: 'wallet', reference: gatewayUuid },
    entries: [
      { account: wallet, amount: -price },
      { account: tokenAccount('platform_fee', game.id), amount: fee },
      ...earned.map(({ userId: id, amount }) => ({ account: tokenAccount('pending_earnings', game.id, id), amount })),
      { account: tokenAccount('studio_share', game.id), amount: studio },
    ].filter(({ amount }) => amount !== 0),
  });
  await recordEarnings(app, transaction, dated, { saleId: transactionId, gameId: game.id, modId: mod.id, earned });
  const purchase = await store.add(transaction, {
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
  const spending = { purchaseId: purchase.id, gameId: game.id, tokens: price, terms };
  await recordSpending(app, transaction, buyer, spending);
  return { purchase, ...(await tokensOwned(transaction, game.id, userId)), mod: sold };
}

interface Order {
  readonly game_id: number;
  readonly price: number;
  readonly subscribe: number;
}

/** Sells the mod of an order, for the price of the order. Returns the id of the purchase. */
export async function sellOrdered(
  app: App,
  transaction: Transaction,
  buyer: UserCaller,
  { game_id, price, subscribe }: Order,
  mod: ModRow | undefined,
): Promise<number> {
  if (!mod) throw new ApiError('MOD_NOT_FOUND');
  const game = await gameRowIn(transaction, game_id);
  await requireForSale(transaction, game, mod);
  const shares = await requireNotOwned(transaction, buyer, mod);
  const bargain = { key: '', price, subscribe: subscribe === 1 };
  const conditions = { terms: await termsOf(transaction, game_id), shares };
  return (await sell(app, transaction, buyer, game, mod, bargain, conditions)).purchase.id;
}

export type PaidResponse = (transaction: Transaction, sale: Sale, game: GameRow) => Promise<string>;

/** Stores the response to a checkout whose order has been completed. */
export const answerBought = (
  app: App,
  request: KeyedRequest,
  respond: PaidResponse,
  orderIn: (
    transaction: Transaction,
  ) => PromiseLike<{ readonly purchase_id: number } | undefined> | { readonly purchase_id: number } | undefined,
): Promise<string> =>
  app.db.write(async (transaction) => {
    const mod = (await lockMods(transaction, [request.modId])).get(request.modId)!;
    return answerOnce(app, transaction, request, async () => {
      const purchase = await store.byId(transaction, (await orderIn(transaction))?.purchase_id ?? 0);
      if (purchase?.status !== 'paid') throw new ApiError('MONETIZATION_PAYMENT_FAILED');
      const { game_id, user_id } = purchase;
      const sale = { purchase, ...(await tokensOwned(transaction, game_id, user_id)), mod };
      return respond(transaction, sale, await gameRowIn(transaction, game_id));
    });
  });

export const refusal = (
  error: ErrorName,
  field: string,
  rule: 'not_for_sale' | 'already_owned' | 'sold_out',
): ApiError => new ApiError(error, { fields: [{ field, rule }] });

/** Why the mod cannot be bought now, each reason with its own error. */
export async function requireForSale(
  transaction: Transaction,
  game: Pick<GameRow, 'monetization_options'>,
  mod: ModRow,
): Promise<void> {
  if (mod.dmca === 1) throw new ApiError('SUBSCRIBE_FAILED_DMCA_COMPLAINT');
  if (!(await hasLiveFile(transaction, mod.id))) throw new ApiError('SUBSCRIBE_FAILED_MODFILE_MISSING');
  if ((mod.monetization_options & MOD_SELLS) === 0 || mod.price === 0)
    throw new ApiError('MONETIZATION_MOD_MONETIZATION_DISABLED');
  // The teams of the game and the mod see a mod before it is accepted.
  if (mod.status !== MOD_ACCEPTED) throw new ApiError('MOD_NOT_ACCEPTED');
  if ((game.monetization_options & GAME_HAS_MARKETPLACE) === 0)
    throw refusal('MONETIZATION_GAME_MARKETPLACE_DISABLED', 'game_id', 'not_for_sale');
  if ((mod.monetization_options & MOD_ON_MARKETPLACE) === 0)
    throw refusal('MONETIZATION_MOD_MARKETPLACE_DISABLED', 'mod_id', 'not_for_sale');
  await requireNotLocked(transaction, mod.submitted_by);
}

/** The team of a mod and those who earn with it have it already, so nobody pays themselves. Returns who earns. */
export async function requireNotOwned(transaction: Transaction, buyer: UserCaller, mod: ModRow): Promise<Share[]> {
  const shares = await sharesNow(transaction, mod.id);
  const { mod: level } = await levelsOf(transaction, { ...buyer, admin: false }, mod);
  const isOwn =
    level > 0 || mod.submitted_by === buyer.userId || shares.some(({ user_id }) => user_id === buyer.userId);
  if (isOwn || (await store.standing(transaction, buyer.userId, mod.id)))
    throw refusal('MONETIZATION_MARKETPLACE_ALREADY_OWNED', 'mod_id', 'already_owned');
  return shares;
}

const soldOut = (): ApiError => refusal('MONETIZATION_SOLD_OUT', 'mod_id', 'sold_out');

export function requireInStock(mod: ModRow): void {
  if ((mod.monetization_options & MOD_LIMITED) !== 0 && mod.stock === 0) throw soldOut();
}

async function takeFromStock(app: App, transaction: Transaction, mod: ModRow): Promise<ModRow> {
  requireInStock(mod);
  if ((mod.monetization_options & MOD_LIMITED) === 0) return mod;
  const sold = await setOffer(transaction, mod.id, { stock: mod.stock - 1 });
  await refreshMod(app, transaction, sold);
  return sold;
}
