import type { App } from '../../platform/app.ts';
import { ACCOUNT_KINDS, type AccountKind } from './accounts.ts';
import * as store from './store.ts';

export type { PostingFilter, PostingRow } from './store.ts';

const READ_AT_ONCE = 1_000;

/** All postings that the filter selects, in the order in which they were made. */
export async function* postings(app: App, filter: store.PostingFilter): AsyncGenerator<store.PostingRow> {
  const { query } = app.db.withLongTimeouts;
  for (let last = 0; ; ) {
    const rows = await store.postingsAfter(query, last, filter, READ_AT_ONCE);
    yield* rows;
    if (rows.length < READ_AT_ONCE) return;
    last = rows.at(-1)!.id;
  }
}

export interface StatementLine {
  readonly account_id: number;
  readonly kind: AccountKind;
  readonly game_id: number;
  readonly currency: string;
  readonly says: string;
  readonly opening: number;
  readonly credits: number;
  readonly debits: number;
  readonly closing: number;
  readonly entries: number;
}

/** A line per account that moved in the period: opening balance, credits, debits and closing balance. */
export async function statementOf(app: App, filter: store.PostingFilter): Promise<StatementLine[]> {
  const lines = new Map<number, StatementLine>();
  for await (const each of postings(app, filter)) {
    const { account_id, kind, game_id, currency, amount, balance_after: closing } = each;
    const opened = { account_id, kind, game_id, currency, says: ACCOUNT_KINDS[kind].says };
    const known = lines.get(account_id) ?? { ...opened, opening: closing - amount, credits: 0, debits: 0, entries: 0 };
    const credits = known.credits + Math.max(amount, 0);
    const debits = known.debits - Math.min(amount, 0);
    lines.set(account_id, { ...known, credits, debits, closing, entries: known.entries + 1 });
  }
  return [...lines.values()].sort((one, other) => one.account_id - other.account_id);
}

const COLUMNS = [
  'id',
  'transaction_id',
  'date_added',
  'game_id',
  'cause',
  'operation',
  'request_key',
  'provider',
  'provider_reference',
  'actor',
  'reverses_id',
  'account_id',
  'kind',
  'user_id',
  'currency',
  'amount',
  'balance_after',
] as const satisfies readonly (keyof store.PostingRow)[];

// A text that a client chose must not begin a formula in a spreadsheet.
const cell = (value: string | number) =>
  typeof value === 'number' ? String(value) : `"${value.replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;

/** A line of CSV (RFC 4180). */
export const csvLine = (cells: readonly (string | number)[]): string => `${cells.map(cell).join(',')}\r\n`;

/** The postings as CSV, with a head. */
export async function* csvOf(app: App, filter: store.PostingFilter): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const each of postings(app, filter)) yield csvLine(COLUMNS.map((name) => each[name]));
}
