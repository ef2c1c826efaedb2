import { gameRowIn } from '../../catalogue/games/games.ts';
import { lockMods, MOD_ACCEPTED, type ModRow, refreshMod, setOffer } from '../../catalogue/mods/mods.ts';
import { subscribeToAll } from '../../community/subscriptions/subscriptions.ts';
import { requireUserIn } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { reserveId } from '../../platform/database/reserved-ids.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { recordEarnings } from '../earnings/earnings.ts';
import { balanceAfter, balancesOf, type Entry, lockForPosting, tokenAccount, writePosting } from '../ledger/ledger.ts';
import { MOD_LIMITED, MOD_ON_MARKETPLACE, MOD_SELLS } from '../offers/offers.ts';
import { divideEarnings, type Share } from '../revenue-teams/revenue-teams.ts';
import { recordSpending } from '../spending/guards.ts';
import { GAME_HAS_MARKETPLACE } from '../terms/switches.ts';
import { type DatedTerms, type Shares, sharesOf } from '../terms/terms.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import { answerOnce, type KeyedRequest } from './keys.ts';
import { type Market, type MarketMod, readMarket } from './market.ts';
import * as store from './store.ts';

/** The id of the operation, as the cause of postings and as the scope of idempotency keys. */
export const CHECKOUT = 'purchase';

/** Every reason why a mod cannot be bought, whatever pays for it. */
export const BUYING_REFUSALS = [
  'SUBSCRIBE_FAILED_DMCA_COMPLAINT',
  'SUBSCRIBE_FAILED_MOD_HIDDEN',
  'SUBSCRIBE_FAILED_MODFILE_MISSING',
  'SUBSCRIBE_FAILED_ALREADY_SUBSCRIBED',
  'MOD_NOT_ACCEPTED',
  'MONETIZATION_SITE_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MONETIZATION_DISABLED',
  'MONETIZATION_MOD_MONETIZATION_DISABLED',
  'MONETIZATION_USER_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MARKETPLACE_DISABLED',
  'MONETIZATION_MOD_MARKETPLACE_DISABLED',
  'MONETIZATION_TEAM_NOT_FOUND',
  'MONETIZATION_IN_GAME_ONLY',
  'MONETIZATION_MARKETPLACE_ALREADY_OWNED',
  'MONETIZATION_INSUFFICIENT_FUNDS',
  'MONETIZATION_SOLD_OUT',
  'MONETIZATION_REQUEST_ERROR',
] as const satisfies readonly ErrorName[];

/** What a sale needs to know of the mod. */
export type SoldMod = Pick<
  ModRow,
  'id' | 'game_id' | 'name' | 'price' | 'submitted_by' | 'monetization_options' | 'stock'
>;

export interface Sale {
  readonly purchase: store.PurchaseRow;
  readonly balance: number;
  readonly deficit: number;
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
  mod: SoldMod,
  bargain: Bargain,
  conditions: Conditions,
): Promise<Sale> {
  await handOut(app, transaction, buyer, mod, bargain.subscribe);
  return book(app, transaction, buyer, mod, bargain, conditions);
}

/** Takes a copy from the stock, and subscribes the buyer: what the object of the mod shows of a sale. */
export async function handOut(
  app: App,
  transaction: Transaction,
  buyer: UserCaller,
  mod: SoldMod,
  subscribes: boolean,
): Promise<void> {
  await takeFromStock(app, transaction, mod);
  if (subscribes) await subscribeToAll(app, transaction, buyer, [mod]);
}

interface Division extends Pick<Shares, 'fee' | 'studio'> {
  readonly price: number;
  readonly earned: ReturnType<typeof divideEarnings>;
}

/** The tokens of a sale: from the buyer to the site, the sellers and the game. */
const saleEntries = (gameId: number, buyerId: number, { price, fee, studio, earned }: Division): Entry[] =>
  [
    { account: tokenAccount('wallet', gameId, buyerId), amount: -price },
    { account: tokenAccount('platform_fee', gameId), amount: fee },
    ...earned.map(({ userId, amount }) => ({ account: tokenAccount('pending_earnings', gameId, userId), amount })),
    { account: tokenAccount('studio_share', gameId), amount: studio },
  ].filter(({ amount }) => amount !== 0);

/**
 * Books a sale. All sales of a game wait for each other from the lock of its accounts to the commit, so what is read
 * leaves with that lock, and what is written leaves with the commit.
 */
export async function book(
  app: App,
  transaction: Transaction,
  { userId, ...buyer }: UserCaller,
  { id: modId, game_id: gameId, submitted_by }: SoldMod,
  { key, price }: Bargain,
  { terms: dated, shares }: Conditions,
): Promise<Sale> {
  const { fee, seller, studio } = sharesOf(price, dated.terms);
  const earned = divideEarnings(shares, { submitted_by }, seller);
  const gatewayUuid = app.random.uuid();
  const [purchaseId, locked, standing, owed] = await answersTo([
    reserveId(transaction, app.db.dialect, 'purchases'),
    lockForPosting(app, transaction, {
      kind: 'purchase',
      gameId,
      cause: { operation: CHECKOUT, actor: userId, key, provider: 'wallet', reference: gatewayUuid },
      entries: saleEntries(gameId, userId, { price, fee, studio, earned }),
    }),
    // The lock of the wallet lets requests of one buyer wait for each other, so this sees what an earlier one bought.
    store.standing(transaction, userId, modId),
    balancesOf(transaction, [tokenAccount('deficit', gameId, userId)]),
  ]);
  if (standing) throw alreadyOwned();
  const transactionId = await writePosting(app, transaction, locked);
  await recordEarnings(app, transaction, dated, { saleId: transactionId, gameId, modId, earned });
  const purchase = await store.add(transaction, purchaseId, {
    user_id: userId,
    game_id: gameId,
    mod_id: modId,
    terms_id: dated.id,
    price,
    fee,
    gateway_uuid: gatewayUuid,
    status: 'paid',
    transaction_id: transactionId,
    date_added: app.clock.now(),
    date_refunded: 0,
  });
  const spending = { purchaseId: purchase.id, gameId, tokens: price, terms: dated.terms };
  await recordSpending(app, transaction, { userId, ...buyer }, spending);
  const balance = balanceAfter(locked, tokenAccount('wallet', gameId, userId));
  return { purchase, balance, deficit: Math.abs(owed[0] ?? 0) };
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
  { game_id: gameId, price, subscribe }: Order,
  modId: number,
): Promise<number> {
  const market = await readMarket(transaction, buyer, { gameId, modId });
  if (!market) throw new ApiError('MOD_NOT_FOUND');
  requireForSale(market);
  requireNotOwned(market, buyer);
  const bargain = { key: '', price, subscribe: subscribe === 1 };
  return (await sell(app, transaction, buyer, market.mod, bargain, market)).purchase.id;
}

interface SaleNames {
  readonly mod: { readonly name: string };
  readonly game: { readonly name: string; readonly token_name: string };
  readonly buyer: { readonly username: string };
}

/** Makes the response to a checkout that sold the mod. */
export interface PaidResponse {
  /** The object of the mod, as the buyer sees it. */
  show(transaction: Transaction): Promise<string>;
  paid(sale: Sale, names: SaleNames, modJson: string): string;
}

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
      const sale = { purchase, ...(await tokensOwned(transaction, game_id, user_id)) };
      const game = await gameRowIn(transaction, game_id);
      const buyer = await requireUserIn(transaction, user_id);
      return respond.paid(sale, { mod, game, buyer }, await respond.show(transaction));
    });
  });

export const refusal = (
  error: ErrorName,
  field: string,
  rule: 'not_for_sale' | 'already_owned' | 'sold_out',
): ApiError => new ApiError(error, { fields: [{ field, rule }] });

/** Why the mod cannot be bought now, each reason with its own error. */
export function requireForSale({ game, mod, ...market }: Market): void {
  if (mod.dmca === 1) throw new ApiError('SUBSCRIBE_FAILED_DMCA_COMPLAINT');
  if (!market.hasLiveFile) throw new ApiError('SUBSCRIBE_FAILED_MODFILE_MISSING');
  if ((mod.monetization_options & MOD_SELLS) === 0 || mod.price === 0) throw notSold(mod, market.isSubscribed);
  // The teams of the game and the mod see a mod before it is accepted.
  if (mod.status !== MOD_ACCEPTED) throw new ApiError('MOD_NOT_ACCEPTED');
  if ((game.monetization_options & GAME_HAS_MARKETPLACE) === 0)
    throw refusal('MONETIZATION_GAME_MARKETPLACE_DISABLED', 'game_id', 'not_for_sale');
  if ((mod.monetization_options & MOD_ON_MARKETPLACE) === 0)
    throw refusal('MONETIZATION_MOD_MARKETPLACE_DISABLED', 'mod_id', 'not_for_sale');
  if (market.isSellerLocked) throw new ApiError('MONETIZATION_USER_MONETIZATION_DISABLED');
  if (market.areSellersGone) throw new ApiError('MONETIZATION_TEAM_NOT_FOUND');
}

/**
 * A mod that has become free is there for its subscribers: shipped clients take this error for success, so a player with
 * an outdated price gets the mod instead of a failure.
 */
const notSold = ({ price }: MarketMod, isSubscribed: boolean): ApiError =>
  new ApiError(
    price === 0 && isSubscribed ? 'SUBSCRIBE_FAILED_ALREADY_SUBSCRIBED' : 'MONETIZATION_MOD_MONETIZATION_DISABLED',
  );

const alreadyOwned = (): ApiError => refusal('MONETIZATION_MARKETPLACE_ALREADY_OWNED', 'mod_id', 'already_owned');

/** The team of a mod and those who earn with it have it already, so nobody pays themselves. */
export function requireNotOwned({ level, mod, shares, isOwned }: Market, { userId }: UserCaller): void {
  const isOwn = level > 0 || mod.submitted_by === userId || shares.some(({ user_id }) => user_id === userId);
  if (isOwn || isOwned) throw alreadyOwned();
}

const soldOut = (): ApiError => refusal('MONETIZATION_SOLD_OUT', 'mod_id', 'sold_out');

export const isLimited = ({ monetization_options }: Pick<SoldMod, 'monetization_options'>): boolean =>
  (monetization_options & MOD_LIMITED) !== 0;

export function requireInStock(mod: SoldMod): void {
  if (isLimited(mod) && mod.stock === 0) throw soldOut();
}

async function takeFromStock(app: App, transaction: Transaction, mod: SoldMod): Promise<void> {
  requireInStock(mod);
  if (!isLimited(mod)) return;
  await refreshMod(app, transaction, await setOffer(transaction, mod.id, { stock: mod.stock - 1 }));
}
