import type { Kysely } from 'kysely';

/** The registry of tables. Each resource's `table.ts` adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: it grows by declaration merging
export interface Tables {}

export type Query = Kysely<Tables>;

/** A scope names what a change makes stale: `games/1`, `users/7`, `access`. */
export type Scope = string;

export interface Transaction {
  readonly query: Query;
  /** Prepared statements that see the changes of this transaction. */
  first<T = Row>(read: Statement, values: readonly Value[]): T | undefined | Promise<T | undefined>;
  all<T = Row>(read: Statement, values: readonly Value[]): T[] | Promise<T[]>;
  run(write: Statement, values: readonly Value[]): void | Promise<void>;
  /** Marks a scope as stale; readers are notified after the commit. */
  changed(scope: Scope): void;
  /**
   * Marks a scope as stale in this process only, because notifications make commits of all processes wait for each other.
   * A job that folds the change in later notifies the others.
   */
  changedHere(scope: Scope): void;
  /**
   * Names what this transaction created, so that a duplicate of the request is redirected to it: an id below the
   * request's address, another address, or the address itself. Only present for operations with `once`.
   */
  made?(what?: number | string): void;
}

/** A hot read, written once with `?` for its parameters and prepared once per connection. */
export interface Statement {
  readonly text: string;
  readonly postgres: string;
  /** On PostgreSQL `Database.all` returns its texts as bytes. */
  readonly inBytes?: true;
}

/** The second text is for PostgreSQL, where it differs. Both take the same values in the same order. */
export function statement(text: string, onPostgres = text): Statement {
  let index = 0;
  return { text, postgres: onPostgres.replace(/\?/g, () => `$${++index}`) };
}

const built = new Map<string, Statement>();

/** The statement with this text, for texts that are built from a few parts again and again. */
export function builtStatement(text: string): Statement {
  const known = built.get(text) ?? statement(text);
  built.set(text, known);
  return known;
}

/** Updates these columns of the row with an id and returns the new row. */
export function updateOf(table: keyof Tables, columns: readonly string[]): Statement {
  return builtStatement(
    `update ${table} set ${columns.map((name) => `${name} = ?`).join(', ')} where id = ? returning *`,
  );
}

/** Inserts a row and returns its id. */
export async function insertRow(
  { first }: Pick<Transaction, 'first'>,
  table: keyof Tables,
  row: object,
): Promise<number> {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?').join(', ');
  const insert = builtStatement(`insert into ${table} (${columns.join(', ')}) values (${marks}) returning id`);
  return (await first<{ id: number }>(insert, Object.values(row) as Value[]))!.id;
}

const READ = /^\s*(?:select|with)\b/i;
const WRITE = /\b(?:insert|update|delete)\b/i;

/**
 * True when a statement only reads, so that it can be retried. A read that merely mentions a write counts as a write.
 */
export const onlyReads = (text: string): boolean => READ.test(text) && !WRITE.test(text);

/** In SQL of PostgreSQL: the ids of a JSON array. Replacing its brackets by `translate` takes several times as long. */
export const idsIn = (parameter: string): string => `cast('{' || btrim(${parameter}, '[]') || '}' as bigint[])`;

export type Value = string | number | null;
type Row = Record<string, Value>;

/** What this process has found out about a database that answers. */
export interface Condition {
  /** What the last scrub found. */
  damage: readonly string[];
  /** The database cannot be written: its disk is full or read-only, or the server is a standby. */
  isReadOnly: boolean;
}

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** Reads committed data. */
  readonly query: Query;
  /** For slow reads: on SQLite they run in a worker thread, where they do not block the event loop. */
  readonly readInWorker: Query;
  /** Runs a prepared hot read; synchronous on SQLite, hence awaited rather than chained. */
  first<T = Row>(read: Statement, values: readonly Value[]): T | undefined | Promise<T | undefined>;
  all<T = Row>(read: Statement, values: readonly Value[]): T[] | Promise<T[]>;
  /** Resolves once the work is durable. The work may await nothing but its own queries. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Runs a statement of a migration that may take hours: on PostgreSQL outside of transactions, on its own connection. */
  executeAlone(text: string): Promise<void>;
  readonly changes: Changes;
  /** The number of slow reads that run at once. */
  readonly readConcurrency: number;
  /** The same database with longer timeouts, for jobs and commands. */
  readonly withLongTimeouts: Database;
  /** Throws when the database cannot be reached. */
  check(): Promise<void>;
  /** Looks for damaged pages, beside requests; returns what it found, and remembers it in `condition`. */
  scrub(): Promise<string[]>;
  readonly counters: { commits: number; writes: number };
  readonly condition: Condition;
  close(): Promise<void>;
}

/** The default timeout of a request's read. */
export const READ_TIMEOUT_MS = 4_000;

const SCOPES_MAX = 100_000;

/**
 * Records when each scope last changed, on a logical clock. Data read after `now()` is fresh while `unchangedSince`
 * returns true.
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
    return (moment >= this.#now || this.#isUnchangedSince(moment, scope)) && this.#isTrusted();
  }

  #isUnchangedSince(moment: number, scope: Scope): boolean {
    return this.#everything <= moment && (this.#last.get(scope) ?? 0) <= moment;
  }

  /** Whether changes of other processes are heard. */
  areTrusted(): boolean {
    return this.#isTrusted();
  }

  /** Other processes send changes; while notifications may be lost, nothing counts as unchanged. */
  trustWhile(isHearing: () => boolean): void {
    this.#isTrusted = isHearing;
  }

  changed(scope: Scope): void {
    if (this.#last.size >= SCOPES_MAX) this.everythingChanged();
    this.#last.set(scope, ++this.#now);
    for (const listener of this.#listeners) listener(scope);
  }

  /** Another process changed something, and the scope is unknown. */
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

/** True when a write violated a unique key, on either database. */
export function isDuplicate(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number };
  const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
  const SQLITE_CONSTRAINT_UNIQUE = 2067;
  return code === '23505' || errcode === SQLITE_CONSTRAINT_UNIQUE || errcode === SQLITE_CONSTRAINT_PRIMARYKEY;
}
