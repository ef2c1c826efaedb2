import type { App } from '../../platform/app.ts';
import { extensionPoint } from '../../platform/extensions.ts';
import { isAllowedBalance, isValidName } from './accounts.ts';
import { hashOf } from './chain.ts';
import * as store from './store.ts';

/** What a resource with rows about money checks besides the books themselves. Returns a sentence per problem. */
export interface LedgerCheck {
  readonly name: string;
  readonly check: (app: App) => Promise<readonly string[]>;
}

export const ledgerChecks = extensionPoint<LedgerCheck>('ledger checks');

export interface LedgerVerdict {
  readonly transactions: number;
  readonly entries: number;
  readonly accounts: number;
  readonly problems: readonly string[];
}

const READ_AT_ONCE = 1_000;
const PROBLEMS_MAX = 100;

interface Account {
  balance: number;
  entries: number;
}

/** Recomputes everything: the chains, the sum of each transaction, every running balance, and the rules of accounts. */
export async function verifyLedger(app: App): Promise<LedgerVerdict> {
  const { query } = app.db.withLongTimeouts;
  const problems: string[] = [];
  const report = (problem: string) => problems.length < PROBLEMS_MAX && problems.push(problem);
  const accounts = new Map<number, Account>();
  const counted = { transactions: 0, entries: 0 };
  const heads = await store.heads(query);
  for (const head of heads) await verifyChain(app, head, accounts, counted, report);
  const checked = await verifyAccounts(app, accounts, report);
  await verifyCounts(app, heads, counted, report);
  for (const { check } of app.extensions.of(ledgerChecks)) for (const problem of await check(app)) report(problem);
  return { ...counted, accounts: checked, problems };
}

type Report = (problem: string) => unknown;
type Counted = { transactions: number; entries: number };
type Head = Awaited<ReturnType<typeof store.heads>>[number];

async function verifyChain(
  app: App,
  head: Head,
  accounts: Map<number, Account>,
  counted: Counted,
  report: Report,
): Promise<void> {
  const { query } = app.db.withLongTimeouts;
  let last = { sequence: 0, hash: '' };
  while (last.sequence < head.sequence) {
    const rows = await store.transactionsAfter(query, head.game_id, last.sequence, head.sequence, READ_AT_ONCE);
    if (rows.length === 0) break;
    const entries = Map.groupBy(
      await store.entriesAmong(
        query,
        rows.map(({ id }) => id),
      ),
      ({ transaction_id }) => transaction_id,
    );
    for (const row of rows) {
      const own = entries.get(row.id) ?? [];
      if (row.sequence !== last.sequence + 1) report(`Transaction ${row.id} follows a gap in game ${head.game_id}.`);
      if (row.previous !== last.hash || row.hash !== hashOf(app, row, own))
        report(`Transaction ${row.id} was changed.`);
      verifyEntries(row, own, accounts, report);
      counted.transactions += 1;
      counted.entries += own.length;
      last = row;
    }
  }
  if (last.sequence !== head.sequence || last.hash !== head.hash)
    report(`The chain of game ${head.game_id} ends at ${last.sequence} instead of ${head.sequence}.`);
}

function verifyEntries(
  { id, game_id }: store.TransactionRow,
  entries: readonly store.NamedEntry[],
  accounts: Map<number, Account>,
  report: Report,
): void {
  const sums = new Map<string, number>();
  for (const entry of entries) {
    const account = accounts.get(entry.account_id) ?? { balance: 0, entries: 0 };
    account.balance += entry.amount;
    account.entries += 1;
    accounts.set(entry.account_id, account);
    sums.set(entry.currency, (sums.get(entry.currency) ?? 0) + entry.amount);
    if (account.balance !== entry.balance_after)
      report(`Entry ${entry.id} leaves a balance that its account never had.`);
    if (!isAllowedBalance(entry.kind, account.balance)) report(`Entry ${entry.id} breaks the rule of ${entry.kind}.`);
    if (entry.game_id !== game_id) report(`Entry ${entry.id} is in the account of another game.`);
  }
  for (const [currency, sum] of sums) if (sum !== 0) report(`Transaction ${id} has ${sum} ${currency} too many.`);
}

/** The stored balances against those that the entries add up to, and zero over all accounts of a currency. */
async function verifyAccounts(app: App, accounts: Map<number, Account>, report: Report): Promise<number> {
  const { query } = app.db.withLongTimeouts;
  const totals = new Map<string, number>();
  let checked = 0;
  for (let last = 0, rows = await store.accountsAfter(query, last, READ_AT_ONCE); rows.length > 0; ) {
    for (const row of rows) {
      const { balance, entries } = accounts.get(row.id) ?? { balance: 0, entries: 0 };
      if (row.balance !== balance || row.entries !== entries)
        report(`Account ${row.id} has ${row.balance} in ${row.entries} entries instead of ${balance} in ${entries}.`);
      if (!isValidName({ ...row, userId: row.user_id, gameId: row.game_id })) report(`Account ${row.id} is not valid.`);
      totals.set(row.currency, (totals.get(row.currency) ?? 0) + row.balance);
      checked += 1;
      last = row.id;
    }
    rows = await store.accountsAfter(query, last, READ_AT_ONCE);
  }
  for (const [currency, total] of totals) if (total !== 0) report(`All accounts have ${total} ${currency} too many.`);
  return checked;
}

/** Rows outside of every chain were added by someone else. */
async function verifyCounts(app: App, heads: readonly Head[], counted: Counted, report: Report): Promise<void> {
  const { query } = app.db.withLongTimeouts;
  const now = await store.counts(query);
  const later = await store.heads(query);
  const grew =
    later.length !== heads.length || later.some(({ sequence }, index) => sequence !== heads[index]!.sequence);
  if (grew) return;
  if (now.transactions !== counted.transactions)
    report(`${now.transactions - counted.transactions} transactions are in no chain.`);
  if (now.entries !== counted.entries) report(`${now.entries - counted.entries} entries belong to no transaction.`);
}
