import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import { audit } from '../../records/audit/audit.ts';
import { type Cause, type Entry, lockBalances, post, tokenAccount } from '../ledger/ledger.ts';
import { noteClawback } from '../spending/clawbacks.ts';
import { storeExtensions } from './extensions.ts';
import * as store from './store.ts';

/**
 * Credits the tokens of a purchase at a store. The store keeps the money and settles with the studio, so the books show
 * tokens alone. A deficit is settled first.
 */
export async function creditPurchase(app: App, transaction: Transaction, row: store.FulfilmentRow): Promise<number> {
  const { wallet, deficit, issued } = accountsOf(row);
  const [owed = 0] = await lockBalances(app, transaction, [deficit, wallet, issued]);
  const recovered = Math.min(row.tokens, -owed);
  const id = await post(app, transaction, {
    kind: 'store_sale',
    gameId: row.game_id,
    cause: causeOf(row, 'stores.credit', row.user_id),
    entries: moved([
      { account: issued, amount: -row.tokens },
      { account: wallet, amount: row.tokens - recovered },
      { account: deficit, amount: recovered },
    ]),
  });
  for (const { onFulfilled } of app.extensions.of(storeExtensions)) await onFulfilled(app, transaction, row.id);
  return id;
}

/** Takes the tokens back that a store has refunded: from the wallet, and as a deficit what is not there any more. */
export async function takePurchaseBack(app: App, transaction: Transaction, row: store.FulfilmentRow): Promise<void> {
  const { wallet, deficit, issued } = accountsOf(row);
  const [balance = 0] = await lockBalances(app, transaction, [wallet, deficit, issued]);
  const taken = Math.min(balance, row.tokens);
  const transactionId = await post(app, transaction, {
    kind: 'store_reversal',
    gameId: row.game_id,
    cause: causeOf(row, 'stores.refund', 0),
    reverses: row.transaction_id,
    entries: moved([
      { account: issued, amount: row.tokens },
      { account: wallet, amount: -taken },
      { account: deficit, amount: taken - row.tokens },
    ]),
  });
  const { user_id: userId, game_id: gameId, tokens } = row;
  await noteClawback(app, transaction, { transactionId, userId, gameId, tokens });
  const subject = { resource: 'store-purchases', id: row.id, gameId: row.game_id };
  const data = { portal: row.portal, tokens: row.tokens };
  await audit(app, transaction, { actor: 0, action: 'stores.refund', subject, data });
  for (const { onReversed } of app.extensions.of(storeExtensions)) await onReversed(app, transaction, row.id);
}

const accountsOf = ({ user_id, game_id }: store.FulfilmentRow) => ({
  wallet: tokenAccount('wallet', game_id, user_id),
  deficit: tokenAccount('deficit', game_id, user_id),
  issued: tokenAccount('issued_tokens', game_id),
});

const moved = (entries: readonly Entry[]) => entries.filter(({ amount }) => amount !== 0);

const causeOf = ({ portal, reference, attempt_key }: store.FulfilmentRow, operation: string, actor: number): Cause => ({
  operation,
  actor,
  provider: portal,
  reference,
  key: attempt_key,
});

/** Every fulfilled purchase has its posting, and one that was taken back a posting that reverses it. */
export async function checkFulfilments(app: App): Promise<LaterText[]> {
  const rows = await store.disagreeing(app.db.withLongTimeouts.query);
  return rows.map(({ id, state: status }) => ({ name: 'ledger_store_purchase', values: { id, status } }));
}
