import { findUserIn, lockUserRows } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import { type Entry, moneyAccount, sellerAccount, tokenAccount } from '../ledger/ledger.ts';
import { moveBalances } from '../ledger/merging.ts';
import type { DatedTerms } from '../terms/terms.ts';
import * as store from './store.ts';

const DAY = 86_400;

export interface Sold {
  /** The transaction of the ledger. */
  readonly saleId: number;
  readonly gameId: number;
  readonly modId: number;
  readonly earned: readonly { readonly userId: number; readonly amount: number }[];
}

/** Records what each seller earned with a sale, until the hold of the terms is over. */
export async function recordEarnings(
  app: App,
  transaction: Transaction,
  { id: termsId, terms }: Pick<DatedTerms, 'id' | 'terms'>,
  { saleId, gameId, modId, earned }: Sold,
): Promise<void> {
  const now = app.clock.now();
  for (const { userId, amount } of earned.filter((each) => each.amount > 0))
    await store.add(transaction, {
      sale_id: saleId,
      user_id: userId,
      game_id: gameId,
      mod_id: modId,
      terms_id: termsId,
      tokens: amount,
      currency: terms.currency,
      date_added: now,
      date_due: now + terms.hold_days * DAY,
    });
}

/**
 * The account that owns what a seller earned: after a merge the surviving one. The account does not end before the
 * commit, and balances that a merge has left behind follow it first.
 */
export async function ownerOfEarnings(app: App, transaction: Transaction, userId: number): Promise<number> {
  await lockUserRows(transaction, { under: [userId] });
  const next = (await findUserIn(transaction, userId))?.merged_into ?? null;
  if (next === null) return userId;
  const owner = await ownerOfEarnings(app, transaction, next);
  await moveBalances(app, transaction, userId, owner);
  return owner;
}

/** What the caller of `earningsOfSale` has to lock and post. */
export interface EarningsTaken {
  readonly row: store.EarningRow;
  readonly owner: number;
}

/** The earnings of a sale that is going to be refunded, locked against clearing. */
export async function earningsOfSale(app: App, transaction: Transaction, saleId: number): Promise<EarningsTaken[]> {
  const taken: EarningsTaken[] = [];
  for (const row of await store.lockOfSale(transaction, saleId))
    taken.push({ row, owner: await ownerOfEarnings(app, transaction, row.user_id) });
  return taken;
}

const hasCleared = ({ row }: EarningsTaken) => row.status === 'cleared';

/** The accounts whose balances `takenEntries` needs, in its order. */
export const balancesNeeded = (taken: readonly EarningsTaken[]) =>
  taken.filter(hasCleared).map(({ row, owner }) => sellerAccount('earnings', row.game_id, owner, row.currency));

/** Every account that a refund can touch, so that all are locked at once. */
export const accountsOfTaken = (taken: readonly EarningsTaken[]) =>
  taken.flatMap(({ row, owner }) =>
    row.status === 'cleared'
      ? [
          tokenAccount('issued_tokens', row.game_id),
          sellerAccount('earnings_deficit', row.game_id, owner, row.currency),
          moneyAccount('seller_costs', row.game_id, row.currency),
          moneyAccount('withheld_tax', row.game_id, row.currency),
        ]
      : [tokenAccount('pending_earnings', row.game_id, owner)],
  );

/**
 * Takes the sellers' share of a sale back. Before clearing it is pending. Afterwards its tokens are issued again, and
 * its value is taken from what the seller can be paid; the rest is owed.
 */
export function takenEntries(taken: readonly EarningsTaken[], available: readonly number[]): Entry[] {
  const left = new Map(taken.filter(hasCleared).map(({ owner }, index) => [owner, available[index] ?? 0] as const));
  return taken.flatMap(({ row, owner }): Entry[] => {
    const { game_id: gameId, currency, tokens, amount, withheld } = row;
    if (row.status !== 'cleared')
      return [{ account: tokenAccount('pending_earnings', gameId, owner), amount: -tokens }];
    // Two shares of one sale belong to one account after a merge.
    const balance = left.get(owner) ?? 0;
    const paid = Math.min(balance, amount);
    left.set(owner, balance - paid);
    return [
      { account: tokenAccount('issued_tokens', gameId), amount: -tokens },
      { account: sellerAccount('earnings', gameId, owner, currency), amount: -paid },
      { account: sellerAccount('earnings_deficit', gameId, owner, currency), amount: paid - amount },
      { account: moneyAccount('withheld_tax', gameId, currency), amount: -withheld },
      { account: moneyAccount('seller_costs', gameId, currency), amount: amount + withheld },
    ];
  });
}

export const markTaken = (app: App, transaction: Transaction, saleId: number) =>
  store.takeBack(transaction, saleId, app.clock.now());

/** The earnings against the books: what is pending has its balance, and what cleared its transaction. */
export async function checkEarnings(app: App): Promise<LaterText[]> {
  const { query } = app.db.withLongTimeouts;
  const wrong = await store.disagreeing(query);
  const missing = await store.unposted(query);
  return [
    ...wrong.map(({ game_id: game, tokens, balance }): LaterText => {
      const values = { game, tokens: Number(tokens), balance: Number(balance) };
      return { name: 'ledger_earnings', values };
    }),
    ...missing.map(({ id: earning }): LaterText => ({ name: 'ledger_uncleared', values: { earning } })),
  ];
}
