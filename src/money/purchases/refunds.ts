import { requireGameForChange, requireGameRow } from '../../catalogue/games/games.ts';
import { lockMods, type ModRow, refreshMod, setOffer } from '../../catalogue/mods/mods.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { unsubscribeFromAll } from '../../community/subscriptions/subscriptions.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { accountsOfTaken, balancesNeeded, earningsOfSale, markTaken, takenEntries } from '../earnings/earnings.ts';
import { type Cause, entriesOf, lockBalances, post, tokenAccount } from '../ledger/ledger.ts';
import { MOD_LIMITED } from '../offers/offers.ts';
import { giveBack, lockPayment } from '../payments/payments.ts';
import { termsOfDay } from '../terms/terms.ts';
import { tokensOwned } from '../wallets/wallets.ts';
import * as store from './store.ts';

const DAY = 86_400;
const YEAR = 365 * DAY;

const notRefundable = (field: string): ApiError =>
  new ApiError('MONETIZATION_UNEXPECTED_OPERATION', { fields: [{ field, rule: 'not_refundable' }] });

export interface Refunded {
  readonly purchase: store.PurchaseRow;
  readonly mod: ModRow | undefined;
}

/** A buyer returns a mod, as long and as often as the terms of the day on which they bought it allow. */
export async function returnMod(app: App, caller: UserCaller, gameId: number, modId: number): Promise<Refunded> {
  await requireGameRow(app, caller, gameId);
  return app.db.write(async (transaction) => {
    const mod = (await lockMods(transaction, [modId])).get(modId);
    if (mod?.game_id !== gameId) throw new ApiError('MOD_NOT_FOUND');
    const purchase = await store.standing(transaction, caller.userId, modId);
    if (!purchase)
      throw new ApiError('MONETIZATION_MARKETPLACE_NOT_OWNED', { fields: [{ field: 'mod_id', rule: 'not_owned' }] });
    const terms = await termsOfDay(transaction, purchase.terms_id);
    // Returns of one buyer are counted one after the other.
    await takeAdvisoryLock(transaction, `purchases/returns/${caller.userId}/${gameId}`);
    const now = app.clock.now();
    if (now - purchase.date_added > terms.refund_days * DAY) throw notRefundable('mod_id');
    const refunds = await store.refundsSince(transaction, caller.userId, gameId, now - YEAR);
    if (refunds >= terms.refunds_per_year) throw notRefundable('mod_id');
    const cause = { operation: 'refund-purchase', actor: caller.userId };
    return { purchase: await refundWithMoney(app, transaction, purchase, mod, cause), mod };
  });
}

/** The administrators of a game refund a purchase, with a reason that the audit log keeps. */
export async function refundAsStudio(
  app: App,
  caller: UserCaller,
  gameId: number,
  purchaseId: number,
  reason: string,
): Promise<Refunded> {
  return app.db.write(async (transaction) => {
    await requireGameForChange(transaction, caller, gameId);
    if ((await teamLevel(transaction, caller, 'games', gameId)) < ADMINISTRATOR)
      throw new ApiError('GAME_NO_UPDATE_PERMISSION');
    const modId = (await store.byId(transaction, purchaseId))?.mod_id ?? 0;
    // The mod comes before the purchase, as in every sale.
    const mod = (await lockMods(transaction, [modId])).get(modId);
    const found = await store.lockById(transaction, purchaseId);
    if (found?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
    const terms = await termsOfDay(transaction, found.terms_id);
    if (found.status !== 'paid' || app.clock.now() - found.date_added > terms.studio_refund_days * DAY)
      throw notRefundable('purchase_id');
    const cause = { operation: 'refund-game-purchase', actor: caller.userId };
    const purchase = await refundWithMoney(app, transaction, found, mod, cause);
    const subject = { resource: 'purchases', id: purchaseId, gameId };
    const data = { mod_id: found.mod_id, user_id: found.user_id, price: found.price };
    await audit(app, transaction, { actor: caller.userId, action: 'purchases.refund', subject, reason, data });
    return { purchase, mod };
  });
}

/**
 * An account is merged into another: what only one of the two bought stays with the other, and what both bought is
 * refunded once. A second run finds nothing to do.
 */
export async function movePurchases(app: App, transaction: Transaction, from: number, to: number): Promise<void> {
  for (const purchase of await store.ownedByBoth(transaction, from, to)) {
    const mod = (await lockMods(transaction, [purchase.mod_id])).get(purchase.mod_id);
    await refund(app, transaction, purchase, mod, { operation: 'accounts.merge', actor: to }, to);
  }
  await store.moveAll(transaction, from, to);
}

/** A mod that was paid for with money is refunded in money, if the payment bought exactly its price in tokens. */
async function refundWithMoney(
  app: App,
  transaction: Transaction,
  purchase: store.PurchaseRow,
  mod: ModRow | undefined,
  cause: Cause,
): Promise<store.PurchaseRow> {
  const order = await store.orderByPurchase(transaction, purchase.id);
  // Locked before the accounts of the ledger, as in every other change of a payment.
  const payment = order && (await lockPayment(transaction, order.payment_id));
  const refunded = await refund(app, transaction, purchase, mod, cause);
  if (payment?.status !== 'paid' || payment.tokens !== purchase.price) return refunded;
  const { balance } = await tokensOwned(transaction, payment.game_id, payment.user_id);
  if (balance >= payment.tokens) await giveBack(app, transaction, payment, cause);
  return refunded;
}

/** Takes a sale back: the tokens return, ownership and subscription end, a limited copy is on sale again. */
export async function refund(
  app: App,
  transaction: Transaction,
  purchase: store.PurchaseRow,
  mod: ModRow | undefined,
  cause: Cause,
  payee: number = purchase.user_id,
): Promise<store.PurchaseRow> {
  const { id, user_id: userId, game_id: gameId, mod_id: modId, price } = purchase;
  if (mod) {
    await unsubscribeFromAll(app, transaction, { userId }, [mod]);
    await returnToStock(app, transaction, mod);
  }
  const [wallet, deficit] = [tokenAccount('wallet', gameId, payee), tokenAccount('deficit', gameId, payee)];
  const sale = await entriesOf(transaction, purchase.transaction_id);
  const kept = sale.filter(({ account: { kind } }) => kind !== 'pending_earnings');
  const taken = await earningsOfSale(app, transaction, purchase.transaction_id);
  const others = kept.map(({ account }) => account).filter(({ kind }) => kind !== 'wallet');
  const [owed = 0, , ...available] = await lockBalances(app, transaction, [
    deficit,
    wallet,
    ...balancesNeeded(taken),
    ...others,
    ...accountsOfTaken(taken),
  ]);
  const recovered = Math.min(price, -owed);
  await post(app, transaction, {
    kind: 'purchase_refund',
    gameId,
    cause: { ...cause, provider: 'wallet', reference: purchase.gateway_uuid },
    reverses: purchase.transaction_id,
    entries: [
      ...kept.map(({ account, amount }) => ({
        account: account.kind === 'wallet' ? wallet : account,
        amount: -amount,
      })),
      ...takenEntries(taken, available),
      // What the buyer owes is settled before they get anything back.
      ...(recovered > 0
        ? [
            { account: wallet, amount: -recovered },
            { account: deficit, amount: recovered },
          ]
        : []),
    ],
  });
  await markTaken(app, transaction, purchase.transaction_id);
  await store.returnOrder(transaction, id);
  await store.releaseKeys(transaction, userId, modId);
  return store.change(transaction.query, id, { status: 'refunded', date_refunded: app.clock.now() });
}

async function returnToStock(app: App, transaction: Transaction, mod: ModRow): Promise<void> {
  if ((mod.monetization_options & MOD_LIMITED) === 0) return;
  await refreshMod(app, transaction, await setOffer(transaction, mod.id, { stock: mod.stock + 1 }));
}

/** Takes a purchase back if it still stands. The caller of this rule has locked the mod. */
export async function revokePurchase(
  app: App,
  transaction: Transaction,
  id: number,
  cause: Cause,
  payee: number,
): Promise<void> {
  const purchase = await store.lockById(transaction, id);
  if (purchase?.status !== 'paid') return;
  const mod = (await lockMods(transaction, [purchase.mod_id])).get(purchase.mod_id);
  await refund(app, transaction, purchase, mod, cause, payee);
}
