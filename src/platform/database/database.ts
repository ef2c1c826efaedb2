import type { Kysely } from 'kysely';

/** The registry of tables. Each noun's `table.ts` adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: it grows by declaration merging
export interface Tables {}

export type Query = Kysely<Tables>;

/** A scope names what a change makes stale: `games/1`, `users/7`, `access`. */
export type Scope = string;

export interface Transaction {
  readonly query: Query;
  /** Prepared reads and writes that see what this transaction has done. */
  first<T = Row>(read: Statement, values: readonly Value[]): T | undefined | Promise<T | undefined>;
  all<T = Row>(read: Statement, values: readonly Value[]): T[] | Promise<T[]>;
  run(write: Statement, values: readonly Value[]): void | Promise<void>;
  /** Names what this transaction makes stale; readers hear of it once it has committed. */
  changed(scope: Scope): void;
  /**
   * Names what this transaction has made, so that the same request once more is led to it: by its number below the
   * address of the request, by another address, or that address itself. Only there where requests count once.
   */
  made?(what?: number | string): void;
}

/** A hot read, written once with `?` for its parameters and prepared once per connection. */
export interface Statement {
  readonly text: string;
  readonly postgres: string;
}

export function statement(text: string): Statement {
  let index = 0;
  return { text, postgres: text.replace(/\?/g, () => `$${++index}`) };
}

const updates = new Map<string, Statement>();

/** The statement that sets these columns of the row with an id, and gives the row as it is then. */
export function updateOf(table: keyof Tables, columns: readonly string[]): Statement {
  const text = `update ${table} set ${columns.map((name) => `${name} = ?`).join(', ')} where id = ? returning *`;
  const known = updates.get(text) ?? statement(text);
  updates.set(text, known);
  return known;
}

const READ = /^\s*(?:select|with)\b/i;
const WRITE = /\b(?:insert|update|delete)\b/i;

/** Whether a text of SQL changes nothing, so that it can be asked again. A read that only mentions a write counts as one. */
export const onlyReads = (text: string): boolean => READ.test(text) && !WRITE.test(text);

export type Value = string | number | null;
type Row = Record<string, Value>;

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Reads what is committed. */
  readonly query: Query;
  /** The same for what takes long: others are served meanwhile, also on SQLite, where any other read holds up the process. */
  readonly readInWorker: Query;
  /** Runs a prepared hot read; synchronous on SQLite, hence awaited rather than chained. */
  first<T = Row>(read: Statement, values: readonly Value[]): T | undefined | Promise<T | undefined>;
  all<T = Row>(read: Statement, values: readonly Value[]): T[] | Promise<T[]>;
  /** Resolves once the work is durable. The work may await nothing but its own queries. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  readonly changes: Changes;
  /** How many reads that take long it does at once. */
  readonly readConcurrency: number;
  /** The same for jobs and commands: nobody waits for what they read, so it may take longer. */
  readonly withLongTimeouts: Database;
  /** Throws when the database cannot be reached. */
  check(): Promise<void>;
  readonly counters: { commits: number; writes: number };
  close(): Promise<void>;
}

/** How long a read of a request may take, unless it is said otherwise. */
export const READ_TIMEOUT_MS = 4_000;

const SCOPES_MAX = 100_000;

/**
 * Remembers when each scope last changed, on a counter of its own. What was read no earlier than `now()`
 * said before the reading is fresh for as long as `unchangedSince` holds.
 */
export class Changes {
  #now = 0;
  #everything = 0;
  #isTrusted: () => boolean = () => true;
  readonly #last = new Map<Scope, number>();
  readonly #listeners = new Set<(scope: Scope | undefined) => void>();

  now(): number {
    return this.#now;
  }

  unchangedSince(moment: number, scope: Scope): boolean {
    return this.#everything <= moment && (this.#last.get(scope) ?? 0) <= moment && this.#isTrusted();
  }

  /** Changes come from elsewhere: while they may be missed, nothing is known to be unchanged. */
  trustWhile(isHearing: () => boolean): void {
    this.#isTrusted = isHearing;
  }

  changed(scope: Scope): void {
    if (this.#last.size >= SCOPES_MAX) this.everythingChanged();
    this.#last.set(scope, ++this.#now);
    for (const listener of this.#listeners) listener(scope);
  }

  /** Something changed that this process cannot name. */
  everythingChanged(): void {
    this.#everything = ++this.#now;
    this.#last.clear();
    for (const listener of this.#listeners) listener(undefined);
  }

  listen(listener: (scope: Scope | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** True when a write was refused because an equal key exists, on either database. */
export function isDuplicate(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number };
  const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
  const SQLITE_CONSTRAINT_UNIQUE = 2067;
  return code === '23505' || errcode === SQLITE_CONSTRAINT_UNIQUE || errcode === SQLITE_CONSTRAINT_PRIMARYKEY;
}
