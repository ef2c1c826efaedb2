import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { type Entry, lockBalances, moneyAccount, post, sellerAccount, tokenAccount } from '../ledger/ledger.ts';
import { termsOfDay, tokenMicros } from '../terms/terms.ts';
import { ownerOfEarnings } from './earnings.ts';
import * as store from './store.ts';

const SELLERS_AT_ONCE = 100;
const CLEARED_AT_ONCE = 100;
const ALL_BASIS_POINTS = 10_000;

/** Clears what is due, seller by seller, in transactions of bounded size. A run that was interrupted is continued. */
export async function clearDue(app: App, heartbeat: () => Promise<void>): Promise<void> {
  const now = app.clock.now();
  for (let last: store.Seller = { game_id: 0, user_id: 0 }; ; ) {
    const sellers = await store.dueSellers(app.db, now, last, SELLERS_AT_ONCE);
    for (const seller of sellers) {
      await clearSeller(app, seller, heartbeat);
      last = seller;
    }
    if (sellers.length < SELLERS_AT_ONCE) return;
  }
}

/** A seller whose earnings cannot be cleared does not keep the others waiting. */
async function clearSeller(app: App, seller: store.Seller, heartbeat: () => Promise<void>): Promise<void> {
  try {
    while (await app.db.write((transaction) => clearStep(app, transaction, seller))) await heartbeat();
  } catch (error) {
    app.log.error('earnings were not cleared; the next run tries again', { ...seller, error });
  }
  await heartbeat();
}

/** Returns true while there may be more to clear. */
async function clearStep(app: App, transaction: Transaction, seller: store.Seller): Promise<boolean> {
  const owner = await ownerOfEarnings(app, transaction, seller.user_id);
  // The fraction of a unit that is carried over belongs to one run at a time.
  await takeAdvisoryLock(transaction, `earnings/${seller.game_id}/${owner}`);
  const due = await store.lockDue(transaction, seller, app.clock.now(), CLEARED_AT_ONCE);
  const [first] = due;
  if (!first) return false;
  // Terms can change the currency; each transaction has one.
  const rows = due.filter(({ currency }) => currency === first.currency);
  const cleared = await valued(transaction, rows, first.currency, { ...seller, user_id: owner });
  const clearedId = await postCleared(app, transaction, owner, rows, cleared);
  for (const row of cleared) await store.clear(transaction, row, clearedId, app.clock.now());
  return rows.length < due.length || due.length === CLEARED_AT_ONCE;
}

/** The value of each earning by the terms of its sale. Fractions of the smallest unit are carried to the next one. */
async function valued(
  transaction: Transaction,
  rows: readonly store.EarningRow[],
  currency: string,
  seller: store.Seller,
): Promise<store.Cleared[]> {
  const unit = microsPerUnit(currency);
  let remainder = await store.remainderOf(transaction, seller, currency);
  const cleared: store.Cleared[] = [];
  for (const { id, tokens, terms_id } of rows) {
    const terms = await termsOfDay(transaction, terms_id);
    // More than a double can hold, where terms value a token in millions.
    const micros = BigInt(tokens) * BigInt(tokenMicros(terms)) + BigInt(remainder);
    const value = Number(micros / unit);
    remainder = Number(micros % unit);
    const withheld = Math.ceil((value * terms.withholding_basis_points) / ALL_BASIS_POINTS);
    cleared.push({ id, amount: value - withheld, withheld, remainder_micros: remainder });
  }
  return cleared;
}

const MICRO_DIGITS = 6;

/** Millionths of a currency in its smallest unit: 10,000 for USD, 1,000,000 for JPY. */
function microsPerUnit(currency: string): bigint {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return BigInt(10 ** (MICRO_DIGITS - maximumFractionDigits));
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, each) => total + each, 0);

/** The tokens leave circulation, and the seller is owed their value; what the seller owes is settled first. */
async function postCleared(
  app: App,
  transaction: Transaction,
  owner: number,
  rows: readonly store.EarningRow[],
  cleared: readonly store.Cleared[],
): Promise<number> {
  const { game_id: gameId, currency } = rows[0]!;
  const tokens = sum(rows.map((row) => row.tokens));
  const amount = sum(cleared.map((row) => row.amount));
  const withheld = sum(cleared.map((row) => row.withheld));
  const pending = tokenAccount('pending_earnings', gameId, owner);
  const issued = tokenAccount('issued_tokens', gameId);
  const costs = moneyAccount('seller_costs', gameId, currency);
  const tax = moneyAccount('withheld_tax', gameId, currency);
  const earnings = sellerAccount('earnings', gameId, owner, currency);
  const deficit = sellerAccount('earnings_deficit', gameId, owner, currency);
  const [owed = 0] = await lockBalances(app, transaction, [deficit, earnings, pending, issued, costs, tax]);
  return post(app, transaction, {
    kind: 'clearing',
    gameId,
    cause: { operation: CLEAR_JOB, actor: 0 },
    entries: [
      { account: pending, amount: -tokens },
      { account: issued, amount: tokens },
      { account: costs, amount: -(amount + withheld) },
      { account: tax, amount: withheld },
      ...creditedEntries({ gameId, userId: owner, currency }, amount, -owed),
    ],
  });
}

export const CLEAR_JOB = 'earnings.clear';

/** Credits a seller, after what they owe. */
export function creditedEntries(
  { gameId, userId, currency }: { readonly gameId: number; readonly userId: number; readonly currency: string },
  amount: number,
  owed: number,
): Entry[] {
  const recovered = Math.min(amount, owed);
  return [
    { account: sellerAccount('earnings_deficit', gameId, userId, currency), amount: recovered },
    { account: sellerAccount('earnings', gameId, userId, currency), amount: amount - recovered },
  ];
}
