import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import {
  type Cause,
  type Entry,
  lockBalances,
  moneyAccount,
  type Posting,
  post,
  tokenAccount,
} from '../ledger/ledger.ts';
import { noteClawback } from '../spending/clawbacks.ts';

/** Tokens that a user got for money. `price` contains `tax`; both are 0 where the money is not known here. */
export interface TokenSale {
  readonly user_id: number;
  readonly game_id: number;
  readonly tokens: number;
  readonly price: number;
  readonly tax: number;
  readonly currency: string;
  readonly provider: string;
}

const accountsOf = ({ user_id, game_id }: TokenSale) => ({
  wallet: tokenAccount('wallet', game_id, user_id),
  deficit: tokenAccount('deficit', game_id, user_id),
  issued: tokenAccount('issued_tokens', game_id),
});

/** Where the money of a sale goes; `sign` is −1 where it goes back. */
function moneyEntries({ game_id, currency, provider, price, tax }: TokenSale, sign: 1 | -1 = 1): Entry[] {
  return [
    { account: moneyAccount('gateway', game_id, currency, provider), amount: -price * sign },
    { account: moneyAccount('token_sales', game_id, currency), amount: (price - tax) * sign },
    { account: moneyAccount('tax', game_id, currency), amount: tax * sign },
  ].filter(({ amount }) => amount !== 0);
}

/** Rules that decide by a balance lock everything that they post to at once, because accounts have one lock order. */
async function lockedBalances(app: App, transaction: Transaction, sale: TokenSale) {
  const { wallet, deficit, issued } = accountsOf(sale);
  const money = moneyEntries(sale).map(({ account }) => account);
  const [balance = 0, owed = 0] = await lockBalances(app, transaction, [wallet, deficit, issued, ...money]);
  return { balance, owed: -owed };
}

export const walletBalance = async (app: App, transaction: Transaction, sale: TokenSale): Promise<number> =>
  (await lockedBalances(app, transaction, sale)).balance;

/** Credits the tokens. A deficit is settled first, unless the tokens are spent at once. */
export async function creditTokens(
  app: App,
  transaction: Transaction,
  sale: TokenSale,
  cause: Cause,
  { settlesDeficit = true }: { settlesDeficit?: boolean } = {},
): Promise<number> {
  const { wallet, deficit, issued } = accountsOf(sale);
  const { owed } = await lockedBalances(app, transaction, sale);
  const recovered = settlesDeficit ? Math.min(sale.tokens, owed) : 0;
  return post(app, transaction, {
    kind: 'pack_sale',
    gameId: sale.game_id,
    cause,
    entries: [
      ...moneyEntries(sale),
      { account: issued, amount: -sale.tokens },
      { account: wallet, amount: sale.tokens - recovered },
      { account: deficit, amount: recovered },
    ].filter(({ amount }) => amount !== 0),
  });
}

/** Takes the tokens of a sale back: from the wallet, and as a deficit what is not there any more. */
export async function takeTokensBack(
  app: App,
  transaction: Transaction,
  sale: TokenSale,
  { kind, cause, reverses }: Pick<Posting, 'kind' | 'cause'> & { readonly reverses: number },
): Promise<void> {
  const { wallet, deficit, issued } = accountsOf(sale);
  const { balance } = await lockedBalances(app, transaction, sale);
  const taken = Math.min(balance, sale.tokens);
  const transactionId = await post(app, transaction, {
    kind,
    gameId: sale.game_id,
    cause,
    reverses,
    entries: [
      ...moneyEntries(sale, -1),
      { account: issued, amount: sale.tokens },
      { account: wallet, amount: -taken },
      { account: deficit, amount: taken - sale.tokens },
    ].filter(({ amount }) => amount !== 0),
  });
  // What a buyer returns by the rules is no clawback.
  if (kind === 'pack_refund') return;
  const { user_id: userId, game_id: gameId, tokens } = sale;
  await noteClawback(app, transaction, { transactionId, userId, gameId, tokens });
}
