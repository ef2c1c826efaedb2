import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { Places } from '../runtime/places.ts';
import type { Changes, Query, Statement, Tables, Transaction, Value } from './database.ts';
import { isCollision, isLockTimeout, isLost, isOrphan, isReadOnly, isStalePlan } from './failures.ts';
import type { ConnectionPool, Opened } from './postgres-connecting.ts';
import type { Executed, PostgresConnection, ToExecute } from './postgres-connection.ts';
import { Durability, type FlushConnection, flushOn } from './postgres-durability.ts';
import { CHANNEL } from './postgres-notifications.ts';
import type { StatementNames } from './postgres-statements.ts';

/** More transactions at once contend for the same rows and processors, and each of them takes longer. */
const AT_ONCE = 3;
/** A transaction that takes longer than this no longer counts, so it does not delay the others. */
const PLACE_MS = 5;
const ATTEMPTS_MAX = 5;
/** Each attempt has already waited for the lock timeout. */
const LOCK_ATTEMPTS_MAX = 3;
const ORPHAN_ATTEMPTS_MAX = 2;
/** More unanswered writes, or larger ones, are awaited, so that a bulk write does not pile up in memory. */
const UNANSWERED_MAX = 32;
const LARGE_CHARACTERS = 16_384;

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

export const resultOf = <R>({ command, rowCount, rows }: Executed): QueryResult<R> => ({
  rows: rows as R[],
  ...(WRITES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
});

/** Kysely over something that runs its queries. Transactions are made by `Database.write`. */
export function queryOver(execute: <R>(query: CompiledQuery) => Promise<QueryResult<R>>): Query {
  const connection: DatabaseConnection = {
    executeQuery: execute,
    // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams rows
    streamQuery: async function* () {
      throw new Error('rows are not streamed: page through them');
    },
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: async () => {
      throw new Error('transactions are made by Database.write');
    },
    commitTransaction: async () => {},
    rollbackTransaction: async () => {},
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => driver,
    },
  });
}

const BEGIN: ToExecute = { name: 'begin', text: 'begin', isGrouped: true };
const COMMIT: ToExecute = { name: 'commit', text: 'commit', isGrouped: true };
const ROLLBACK: ToExecute = { name: 'rollback', text: 'rollback' };

/**
 * One connection and its open transaction. `begin`, writes without a result and `commit` are sent without waiting for
 * their results; a failure of one of them is reported by the next statement that is awaited. What is sent in one turn of
 * the event loop is a group, whose results arrive together.
 */
class Session {
  readonly #connection: PostgresConnection;
  readonly #names: StatementNames;
  readonly query: Query;
  #unanswered = new Set<Promise<unknown>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(connection: PostgresConnection, names: StatementNames) {
    this.#connection = connection;
    this.#names = names;
    this.query = queryOver(async <R>({ sql, parameters }: CompiledQuery) => {
      const name = this.#names.ofText(sql);
      return resultOf<R>(await this.#ask({ name, text: sql, values: parameters, isGrouped: true }));
    });
  }

  begin(): void {
    this.#failure = undefined;
    this.#send(BEGIN);
  }

  readonly all = async <T>(read: Statement, values: readonly Value[]): Promise<T[]> =>
    (await this.#ask(this.#prepared(read, values))).rows as T[];

  readonly first = async <T>(read: Statement, values: readonly Value[]): Promise<T | undefined> =>
    (await this.all<T>(read, values))[0];

  readonly run = (write: Statement, values: readonly Value[]): void | Promise<void> => {
    const isLarge = values.some((value) => typeof value === 'string' && value.length > LARGE_CHARACTERS);
    if (isLarge || this.#unanswered.size >= UNANSWERED_MAX)
      return this.#ask(this.#prepared(write, values)).then(() => {});
    this.#send(this.#prepared(write, values));
  };

  /** Throws if it is known before the commit that there is nothing left to commit. */
  requireIntact(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#connection.isBroken) throw new Error('Connection terminated before the commit');
  }

  /** Sends the end of the transaction and waits for everything that was sent. */
  async commit(notify: Statement, scopes: ReadonlySet<string>): Promise<void> {
    if (scopes.size > 0) this.#send(this.#prepared(notify, [CHANNEL, JSON.stringify([...scopes])]));
    await this.#ask(COMMIT);
    await this.#settled();
    if (this.#failure) throw this.#failure.error;
  }

  /** Returns the first failure of the statements that were not awaited; it caused any later one. */
  async rollback(): Promise<{ readonly error: unknown } | undefined> {
    // A connection that breaks here has rolled back, too, and its next user drops it.
    await this.#connection.execute(ROLLBACK).catch(() => {});
    await this.#settled();
    return this.#failure;
  }

  #prepared(statement: Statement, values: readonly Value[]) {
    return { name: this.#names.of(statement), text: statement.postgres, values, isGrouped: true };
  }

  #send(statement: ToExecute): void {
    const answer = this.#connection.execute(statement);
    const handled = answer.then(
      () => void this.#unanswered.delete(handled),
      (error) => {
        this.#unanswered.delete(handled);
        this.#failure ??= { error };
      },
    );
    this.#unanswered.add(handled);
  }

  async #ask(statement: ToExecute): Promise<Executed> {
    try {
      return await this.#connection.execute(statement);
    } catch (error) {
      // Results arrive in order, so an earlier failure is known by now, and it is the cause of this one.
      this.#failure ??= { error };
      throw this.#failure.error;
    }
  }

  async #settled(): Promise<void> {
    while (this.#unanswered.size > 0) await Promise.all(this.#unanswered);
  }
}

const NOTIFY: Statement = {
  text: '',
  postgres: 'select pg_notify($1, value) from json_array_elements_text($2::json)',
};

interface TransactionParts {
  /** Its connections commit without waiting for the log. */
  readonly pool: ConnectionPool;
  readonly names: StatementNames;
  readonly changes: Changes;
  readonly openFlushes: () => Promise<Opened>;
}

export class Transactions {
  readonly #pool: ConnectionPool;
  readonly #names: StatementNames;
  readonly #changes: Changes;
  readonly #sessions = new WeakMap<object, Session>();
  readonly #durability: Durability;
  readonly #places = new Places(AT_ONCE);
  #open = 0;
  readonly counters = { commits: 0, writes: 0 };

  constructor({ pool, names, changes, openFlushes }: TransactionParts) {
    this.#pool = pool;
    this.#names = names;
    this.#changes = changes;
    this.#durability = new Durability({
      open: openFlushes,
      isAlone: () => this.#open === 0,
      flushed: () => {
        this.counters.commits += 1;
      },
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
    await this.#durability.end();
  }

  /** Commits of concurrent transactions become durable together, by one flush of the log. */
  async write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const connecting = this.#durability.connection();
    const flushes = connecting instanceof Promise ? await connecting : connecting;
    this.#open += 1;
    const leave = await this.#place();
    const { value, on, isDurable } = await this.#committed(work, flushes).finally(() => {
      leave();
      this.#open -= 1;
      if (this.#open === 0) this.#durability.noMoreOpen();
    });
    if (!isDurable) await this.#flushed(on, flushes);
    this.counters.writes += 1;
    return value;
  }

  /** Resolves when the transaction may begin. The caller must call the result when it has ended. */
  async #place(): Promise<() => void> {
    await this.#places.take();
    let isTaken = true;
    const leave = () => {
      if (isTaken) this.#places.leave();
      isTaken = false;
      clearTimeout(timer);
    };
    const timer = setTimeout(leave, PLACE_MS);
    return leave;
  }

  async #flushed(on: PostgresConnection, flushes: FlushConnection): Promise<void> {
    if (flushes.reaches(on)) return flushes.durable();
    const moved = 'the server was replaced';
    flushes.break(moved);
    on.break(moved);
    throw new Error(`Connection terminated: ${moved}`);
  }

  /** Repeats the work after failures that rolled it back and that a repetition may avoid. */
  async #committed<T>(work: (transaction: Transaction) => Promise<T>, flushes: FlushConnection): Promise<Committed<T>> {
    for (let attempt = 1; ; attempt += 1) {
      const progress = { isCommitting: false };
      try {
        return await this.#attempt(work, progress, flushes);
      } catch (error) {
        if (isStalePlan(error)) this.#names.renew();
        if (attempt >= attemptsFor(error, progress.isCommitting)) throw error;
      }
    }
  }

  #attempt<T>(
    work: (transaction: Transaction) => Promise<T>,
    progress: { isCommitting: boolean },
    flushes: FlushConnection,
  ): Promise<Committed<T>> {
    return this.#pool.use(async (on) => {
      const value = await this.#attemptOn(on, work, progress);
      // The connection that flushes was idle during a long transaction, and may have broken meanwhile.
      const isDurable = flushes.isBroken;
      if (isDurable) await flushOn(on);
      return { value, on, isDurable };
    });
  }

  async #attemptOn<T>(
    connection: PostgresConnection,
    work: (transaction: Transaction) => Promise<T>,
    progress: { isCommitting: boolean },
  ): Promise<T> {
    const scopes = new Set<string>();
    const scopesHere = new Set<string>();
    const session = this.#sessionOn(connection);
    try {
      session.begin();
      const { first, all, run, query } = session;
      const changed = (scope: string) => void scopes.add(scope);
      const changedHere = (scope: string) => void scopesHere.add(scope);
      const value = await work({ first, all, run, query, changed, changedHere });
      session.requireIntact();
      progress.isCommitting = true;
      await session.commit(NOTIFY, scopes);
      // The notification arrives later, but the writer must see its own changes at once.
      for (const scope of scopes.union(scopesHere)) this.#changes.changed(scope);
      return value;
    } catch (error) {
      const cause = (await session.rollback())?.error ?? error;
      if (isLost(cause) || isReadOnly(cause)) connection.break('it is of no more use');
      // The server did not reach the commit behind a statement that it refused.
      else progress.isCommitting = false;
      throw cause;
    }
  }

  #sessionOn(connection: PostgresConnection): Session {
    const known = this.#sessions.get(connection) ?? new Session(connection, this.#names);
    this.#sessions.set(connection, known);
    return known;
  }
}

/** What a transaction returned, and the connection on which it committed. */
interface Committed<T> {
  readonly value: T;
  readonly on: PostgresConnection;
  /** Otherwise the shared flush makes it so. */
  readonly isDurable: boolean;
}

/** Maximum attempts for this failure. After a connection loss during commit the outcome is unknown. */
function attemptsFor(error: unknown, isCommitting: boolean): number {
  if (isCollision(error)) return ATTEMPTS_MAX;
  if (isCommitting) return 1;
  if (isOrphan(error)) return ORPHAN_ATTEMPTS_MAX;
  if (isLockTimeout(error)) return LOCK_ATTEMPTS_MAX;
  return isLost(error) || isReadOnly(error) || isStalePlan(error) ? ATTEMPTS_MAX : 1;
}
