import { LRUCache } from 'lru-cache';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { reserveId } from '../../platform/database/reserved-ids.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { type AccountName, isAllowedBalance, isValidName } from './accounts.ts';
import { hashOf } from './chain.ts';
import * as store from './store.ts';

export { type AccountName, moneyAccount, sellerAccount, tokenAccount, tokensOf } from './accounts.ts';

export interface Cause {
  /** The id of the API operation, or the name of the command or job. */
  readonly operation: string;
  /** The acting user; 0 for the service itself. */
  readonly actor: number;
  /** The idempotency key of the request. */
  readonly key?: string;
  readonly provider?: string;
  /** The id of the payment at its provider. */
  readonly reference?: string;
}

export interface Entry {
  readonly account: AccountName;
  readonly amount: number;
}

export const TRANSACTION_KINDS = [
  'pack_sale',
  'pack_refund',
  'chargeback',
  'clawback',
  'store_sale',
  'store_reversal',
  'purchase',
  'purchase_refund',
  'clearing',
  'payout',
  'payout_paid',
  'payout_return',
  'merge',
] as const;

export interface Posting {
  readonly kind: (typeof TRANSACTION_KINDS)[number];
  readonly gameId: number;
  readonly cause: Cause;
  /** The transaction that this one takes back, wholly or in part. */
  readonly reverses?: number;
  readonly entries: readonly Entry[];
}

/** A posting that breaks a rule of the books. It is a bug of the caller, which has to check balances first. */
export class UnbalancedError extends Error {}

const keyOf = ({ kind, userId, provider, gameId, currency }: AccountName): store.AccountKey => ({
  kind,
  user_id: userId,
  provider,
  game_id: gameId,
  currency,
});
const nameOf = (key: store.AccountKey): AccountName => ({
  kind: key.kind,
  userId: key.user_id,
  provider: key.provider,
  gameId: key.game_id,
  currency: key.currency,
});
const textOf = (key: store.AccountKey) => `${key.user_id} ${key.game_id} ${key.kind} ${key.currency} ${key.provider}`;

/** A posting whose accounts and chain are locked. */
export interface LockedPosting {
  readonly posting: Posting;
  readonly entries: readonly (store.AccountRow & { account_id: number; amount: number; balance_after: number })[];
  readonly head: store.Head;
  /** Reserved on PostgreSQL, after the chain was locked: ids follow the order of the chain. */
  readonly id: number | null;
}

/**
 * Writes a transaction to the books; nothing else does. It locks the accounts in the order of their ids and then the
 * chain of the game, so a rule locks rows of other resources before it posts.
 */
export const post = async (app: App, transaction: Transaction, posting: Posting): Promise<number> =>
  writePosting(app, transaction, await lockForPosting(app, transaction, posting));

/**
 * The first half of `post`. Every sale of the game waits from here to the commit, so a rule that is in a hurry has
 * nothing left to read afterwards. All locks leave in one packet.
 */
export async function lockForPosting(app: App, transaction: Transaction, posting: Posting): Promise<LockedPosting> {
  const amounts = amountsOf(posting);
  const keys = [...amounts.values()].map(({ key }) => key);
  const [accounts, head, id] = await answersTo([
    lockedAccounts(app, transaction, keys),
    store.lockHead(transaction, posting.gameId),
    reserveId(transaction, app.db.dialect, 'ledger_transactions'),
  ]);
  const entries = accounts.map((account) => {
    const { amount } = amounts.get(textOf(account))!;
    return { ...account, account_id: account.id, amount, balance_after: account.balance + amount };
  });
  return { posting, entries, head, id };
}

/** The second half of `post`. */
export async function writePosting(
  app: App,
  transaction: Transaction,
  { posting, entries, head, id }: LockedPosting,
): Promise<number> {
  for (const { kind, balance_after } of entries) {
    if (!Number.isSafeInteger(balance_after)) throw new UnbalancedError('An amount is too large.');
    if (isAllowedBalance(kind, balance_after)) continue;
    // A wallet is the only account whose owner decides over the amount.
    if (kind === 'wallet') throw insufficientFunds();
    throw new UnbalancedError(`A ${posting.kind} leaves ${balance_after} in ${kind}.`);
  }
  const { cause } = posting;
  const row = {
    game_id: posting.gameId,
    sequence: head.sequence + 1,
    kind: posting.kind,
    operation: cause.operation,
    request_key: cause.key ?? '',
    provider: cause.provider ?? '',
    provider_reference: cause.reference ?? '',
    user_id: cause.actor,
    reverses_id: posting.reverses ?? 0,
    date_added: app.clock.now(),
    previous: head.hash,
  };
  return store.add(transaction, id, { ...row, hash: hashOf(app, row, entries) }, entries);
}

/** What an account has after a posting that touches it. */
export const balanceAfter = ({ entries }: LockedPosting, account: AccountName): number =>
  entries.find((entry) => textOf(entry) === textOf(keyOf(account)))!.balance_after;

/** A 422 names what is wrong; the wallet is no field of the request, but what the user has to fill. */
export const insufficientFunds = (): ApiError =>
  new ApiError('MONETIZATION_INSUFFICIENT_FUNDS', { fields: [{ field: 'wallet', rule: 'insufficient_funds' }] });

/** One amount per account, checked: integers, known accounts of one game, zero per currency. */
function amountsOf({ kind, gameId, entries }: Posting): Map<string, { key: store.AccountKey; amount: number }> {
  const amounts = new Map<string, { key: store.AccountKey; amount: number }>();
  const sums = new Map<string, number>();
  for (const { account, amount } of entries) {
    if (!Number.isSafeInteger(amount)) throw new UnbalancedError(`A ${kind} of ${amount} is not a whole amount.`);
    if (!isValidName(account) || account.gameId !== gameId)
      throw new UnbalancedError(`A ${kind} cannot use ${JSON.stringify(account)}.`);
    const key = keyOf(account);
    amounts.set(textOf(key), { key, amount: (amounts.get(textOf(key))?.amount ?? 0) + amount });
    sums.set(account.currency, (sums.get(account.currency) ?? 0) + amount);
  }
  for (const [currency, sum] of sums)
    if (sum !== 0) throw new UnbalancedError(`A ${kind} has ${sum} ${currency} too many.`);
  for (const [text, { amount }] of amounts) if (amount === 0) amounts.delete(text);
  if (amounts.size === 0) throw new UnbalancedError(`A ${kind} moves nothing.`);
  return amounts;
}

const KNOWN_MAX = 10_000;
/** The ids of accounts by name, per database. A row is compared with its name, because a posting may be rolled back. */
const known = new WeakMap<object, LRUCache<string, number>>();

function knownIn({ db: { changes } }: App): LRUCache<string, number> {
  const ids = known.get(changes) ?? new LRUCache({ max: KNOWN_MAX });
  known.set(changes, ids);
  return ids;
}

/** Undefined unless the ids of all accounts are known. */
async function lockKnown(
  transaction: Transaction,
  ids: LRUCache<string, number>,
  keys: readonly store.AccountKey[],
): Promise<store.AccountRow[] | undefined> {
  const names = new Set(keys.map(textOf));
  const all = [...names].flatMap((name) => ids.get(name) ?? []);
  if (all.length < names.size) return undefined;
  const rows = await store.lockAccountsById(transaction, all);
  return rows.length === names.size && rows.every((row) => names.has(textOf(row))) ? rows : undefined;
}

async function lockedAccounts(
  app: App,
  transaction: Transaction,
  keys: readonly store.AccountKey[],
): Promise<store.AccountRow[]> {
  const ids = knownIn(app);
  const rows = (await lockKnown(transaction, ids, keys)) ?? (await lockedByName(app, transaction, keys));
  for (const row of rows) ids.set(textOf(row), row.id);
  return rows;
}

async function lockedByName(
  app: App,
  transaction: Transaction,
  keys: readonly store.AccountKey[],
): Promise<store.AccountRow[]> {
  const found = await store.lockAccounts(transaction, keys);
  if (found.length === keys.length) return found;
  const known = new Set(found.map(textOf));
  const missing = keys
    .filter((key) => !known.has(textOf(key)))
    .sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  for (const key of missing) await store.openAccount(transaction, key, app.clock.now());
  return store.lockAccounts(transaction, keys);
}

/** The balances of these accounts, in their order; 0 for one that was never used. */
export async function balancesOf(
  reader: Pick<Database, 'first' | 'all'>,
  accounts: readonly AccountName[],
): Promise<number[]> {
  const keys = accounts.map(keyOf);
  const rows = new Map((await store.accountsNamed(reader, keys)).map((row) => [textOf(row), row.balance]));
  return keys.map((key) => rows.get(textOf(key)) ?? 0);
}

/** The same, locked until the transaction ends, for rules that decide by a balance. */
export async function lockBalances(
  app: App,
  transaction: Transaction,
  accounts: readonly AccountName[],
): Promise<number[]> {
  const keys = accounts.map(keyOf);
  const rows = new Map((await lockedAccounts(app, transaction, keys)).map((row) => [textOf(row), row.balance]));
  return keys.map((key) => rows.get(textOf(key))!);
}

/** What a transaction moved, for one that takes it back. */
export async function entriesOf(reader: Pick<Database, 'first' | 'all'>, id: number): Promise<Entry[]> {
  const rows = await store.entriesOf(reader, id);
  return rows.map((row) => ({ account: nameOf(row), amount: row.amount }));
}

/** The accounts of a user that are not empty. */
export async function openBalancesOf(reader: Pick<Database, 'first' | 'all'>, userId: number): Promise<Entry[]> {
  const rows = await store.accountsOfUser(reader, userId);
  return rows.filter(({ balance }) => balance !== 0).map((row) => ({ account: nameOf(row), amount: row.balance }));
}
