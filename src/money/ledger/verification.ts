import type { App } from '../../platform/app.ts';
import { extensionPoint } from '../../platform/extensions.ts';
import type { LaterText } from '../../platform/localisation/texts.ts';
import { isAllowedBalance, isValidName } from './accounts.ts';
import { hashOf } from './chain.ts';
import * as store from './store.ts';

/** What a resource with rows about money checks besides the books themselves. Returns a text per problem. */
export interface LedgerCheck {
  readonly name: string;
  readonly check: (app: App) => Promise<readonly LaterText[]>;
}

export const ledgerChecks = extensionPoint<LedgerCheck>('ledger checks');

export interface LedgerVerdict {
  readonly transactions: number;
  readonly entries: number;
  readonly accounts: number;
  readonly problems: readonly LaterText[];
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
  const problems: LaterText[] = [];
  const report = (problem: LaterText) => problems.length < PROBLEMS_MAX && problems.push(problem);
  const accounts = new Map<number, Account>();
  const counted = { transactions: 0, entries: 0 };
  const heads = await store.heads(query);
  for (const head of heads) await verifyChain(app, head, accounts, counted, report);
  const checked = await verifyAccounts(app, accounts, report);
  await verifyCounts(app, heads, counted, report);
  for (const { check } of app.extensions.of(ledgerChecks)) for (const problem of await check(app)) report(problem);
  return { ...counted, accounts: checked, problems };
}

type Report = (problem: LaterText) => unknown;
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
      if (row.sequence !== last.sequence + 1)
        report({ name: 'ledger_gap', values: { transaction: row.id, game: head.game_id } });
      if (row.previous !== last.hash || row.hash !== hashOf(app, row, own))
        report({ name: 'ledger_changed', values: { transaction: row.id } });
      verifyEntries(row, own, accounts, report);
      counted.transactions += 1;
      counted.entries += own.length;
      last = row;
    }
  }
  if (last.sequence !== head.sequence || last.hash !== head.hash)
    report({ name: 'ledger_chain', values: { game: head.game_id, found: last.sequence, expected: head.sequence } });
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
    if (account.balance !== entry.balance_after) report({ name: 'ledger_entry_balance', values: { entry: entry.id } });
    if (!isAllowedBalance(entry.kind, account.balance))
      report({ name: 'ledger_entry_rule', values: { entry: entry.id, kind: entry.kind } });
    if (entry.game_id !== game_id) report({ name: 'ledger_entry_game', values: { entry: entry.id } });
  }
  for (const [currency, sum] of sums)
    if (sum !== 0) report({ name: 'ledger_sum', values: { transaction: id, sum, currency } });
}

const wrongAccount = (found: Account & { readonly id: number }, expected: Account): LaterText => ({
  name: 'ledger_account',
  values: {
    account: found.id,
    balance: found.balance,
    entries: found.entries,
    expected_balance: expected.balance,
    expected_entries: expected.entries,
  },
});

/** The stored balances against those that the entries add up to, and zero over all accounts of a currency. */
async function verifyAccounts(app: App, accounts: Map<number, Account>, report: Report): Promise<number> {
  const { query } = app.db.withLongTimeouts;
  const totals = new Map<string, number>();
  let checked = 0;
  for (let last = 0, rows = await store.accountsAfter(query, last, READ_AT_ONCE); rows.length > 0; ) {
    for (const row of rows) {
      const { balance, entries } = accounts.get(row.id) ?? { balance: 0, entries: 0 };
      if (row.balance !== balance || row.entries !== entries) report(wrongAccount(row, { balance, entries }));
      if (!isValidName({ ...row, userId: row.user_id, gameId: row.game_id }))
        report({ name: 'ledger_account_invalid', values: { account: row.id } });
      totals.set(row.currency, (totals.get(row.currency) ?? 0) + row.balance);
      checked += 1;
      last = row.id;
    }
    rows = await store.accountsAfter(query, last, READ_AT_ONCE);
  }
  for (const [currency, sum] of totals) if (sum !== 0) report({ name: 'ledger_total', values: { sum, currency } });
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
    report({ name: 'ledger_loose_transactions', values: { count: now.transactions - counted.transactions } });
  if (now.entries !== counted.entries)
    report({ name: 'ledger_loose_entries', values: { count: now.entries - counted.entries } });
}
