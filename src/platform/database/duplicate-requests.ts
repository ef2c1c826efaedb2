import { type Database, type Statement, statement, type Transaction } from './database.ts';

declare module './database.ts' {
  interface Tables {
    made_once: MadeOnceTable;
  }
}

/** What a request has made, for as long as the same request is taken for the same wish. */
interface MadeOnceTable {
  /** A digest of the caller, the operation and all that was sent. */
  key: string;
  /** A digest of the caller alone. */
  caller: string;
  location: string;
  date_added: number;
}

/** So long after something was made, the same request is taken for a second tap on the same button. */
export const DUPLICATE_WINDOW_SECONDS = 10;

export interface RequestKey {
  readonly key: string;
  readonly caller: string;
}

/**
 * Clocks of two processes may differ, and one may be set back. A row beyond the window on either side is outdated. Of
 * two transactions with one key the second waits here for the end of the first.
 */
const CLAIM = statement(`insert into made_once (key, caller, location, date_added) values (?, ?, '', ?)
  on conflict (key) do update set location = '', date_added = excluded.date_added
  where made_once.date_added not between ? and ? returning key`);
const FIND = statement('select location from made_once where key = ? and date_added between ? and ?');
const SETTLE = statement('update made_once set location = ? where key = ?');
const RELEASE = statement('delete from made_once where key = ?');
const FORGET = statement('delete from made_once where caller = ?');
const FORGET_BEFORE: Statement = statement('delete from made_once where date_added not between ? and ?');

const windowAt = (now: number) => [now - DUPLICATE_WINDOW_SECONDS, now + DUPLICATE_WINDOW_SECONDS] as const;

/** Where that is which this very request made a moment ago. */
export async function findResult(
  reader: Pick<Database, 'first'>,
  { key }: RequestKey,
  now: number,
): Promise<string | undefined> {
  return (await reader.first<{ location: string }>(FIND, [key, ...windowAt(now)]))?.location;
}

/** False where the same request has made something already. What is claimed ends with the transaction, unless settled. */
export async function claimRequest(
  transaction: Transaction,
  { key, caller }: RequestKey,
  now: number,
): Promise<boolean> {
  return (await transaction.first(CLAIM, [key, caller, now, ...windowAt(now)])) !== undefined;
}

/** Remembers what the transaction made; one that made nothing leaves nothing behind. */
export async function recordResult(
  transaction: Transaction,
  { key }: RequestKey,
  location: string | undefined,
): Promise<void> {
  if (location === undefined) await transaction.run(RELEASE, [key]);
  else await transaction.run(SETTLE, [location, key]);
}

/** Who takes something back may make the same again at once. */
export async function forgetRequests(transaction: Transaction, caller: string): Promise<void> {
  await transaction.run(FORGET, [caller]);
}

export const forgetOutdatedRequests = (db: Database, now: number): Promise<void> =>
  db.write(async (transaction) => void (await transaction.run(FORGET_BEFORE, windowAt(now))));
