import { type Database, statement, type Transaction } from './database.ts';
import { removeInSteps, someOf } from './removal.ts';

declare module './database.ts' {
  interface Tables {
    made_once: MadeOnceTable;
  }
}

/** The result of a request, for as long as an identical request counts as a duplicate. */
interface MadeOnceTable {
  /** A digest of the caller, the operation and the content. */
  key: string;
  /** A digest of the caller alone. */
  caller: string;
  location: string;
  date_added: number;
}

/** An identical request within this time counts as a double click. */
export const DUPLICATE_WINDOW_SECONDS = 10;

export interface RequestKey {
  readonly key: string;
  readonly caller: string;
}

/**
 * Clocks of two processes may differ, so a row outside the window on either side is outdated. A second transaction with
 * the same key waits here for the first.
 */
const CLAIM = statement(`insert into made_once (key, caller, location, date_added) values (?, ?, '', ?)
  on conflict (key) do update set location = '', date_added = excluded.date_added
  where made_once.date_added not between ? and ? returning key`);
/** With the index by date, which PostgreSQL prefers as long as the table is small, it would read all rows of the window. */
const FIND = statement('select location from made_once where key = ? and date_added + 0 between ? and ?');
const SETTLE = statement('update made_once set location = ? where key = ?');
const RELEASE = statement('delete from made_once where key = ?');
const FORGET = statement('delete from made_once where caller = ?');
const OUTDATED = someOf('made_once', ['key'], 'date_added not between ? and ?');

const windowAt = (now: number) => [now - DUPLICATE_WINDOW_SECONDS, now + DUPLICATE_WINDOW_SECONDS] as const;

/** The address that an identical request created, if any. */
export async function findResult(
  reader: Pick<Database, 'first'>,
  { key }: RequestKey,
  now: number,
): Promise<string | undefined> {
  return (await reader.first<{ location: string }>(FIND, [key, ...windowAt(now)]))?.location;
}

/**
 * Claims the key; false when an identical request has created something. The claim ends with the transaction unless a
 * result is recorded.
 */
export async function claimRequest(
  transaction: Transaction,
  { key, caller }: RequestKey,
  now: number,
): Promise<boolean> {
  return (await transaction.first(CLAIM, [key, caller, now, ...windowAt(now)])) !== undefined;
}

/** Records what the transaction created; without a result the claim is removed. */
export async function recordResult(
  transaction: Transaction,
  { key }: RequestKey,
  location: string | undefined,
): Promise<void> {
  if (location === undefined) await transaction.run(RELEASE, [key]);
  else await transaction.run(SETTLE, [location, key]);
}

/** After a deletion the caller may create the same thing again at once. */
export async function forgetRequests(transaction: Transaction, caller: string): Promise<void> {
  await transaction.run(FORGET, [caller]);
}

export const forgetOutdatedRequests = (db: Database, now: number): Promise<void> =>
  removeInSteps(db, OUTDATED, windowAt(now));
