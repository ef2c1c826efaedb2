import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import {
  Changes,
  type Condition,
  type Database,
  onlyReads,
  READ_TIMEOUT_MS,
  type Statement,
  type Tables,
  type Transaction,
  type Value,
} from './database.ts';
import { WAL_TOO_LONG } from './failures.ts';
import { withLiteralLimits } from './literal-limits.ts';
import { MAY_SCAN } from './may-scan.ts';
import { type SqliteFile, sqliteFile } from './sqlite-opening.ts';
import { BackgroundReader } from './sqlite-reader.ts';
import { scrubSqlite } from './sqlite-scrub.ts';

const STATEMENTS_KEPT = 500;
const BATCH_MAX = 256;
const FOREIGN_CHANGES_POLL_MS = 200;
/** How long a commit waits for the write lock of another process. */
const LOCK_PATIENCE_MS = 10_000;
const LOCK_RETRY_MS_MAX = 10;
const SQLITE_BUSY = 5;
const READER_THREADS = 2;
/** After a checkpoint the log is shortened to this size. */
const WAL_KEPT_BYTES = 64 * 1024 ** 2;
/** A reader of another process can keep the log from being reused. It grows up to this size, and then writes are refused. */
const WAL_BYTES_MAX = 1024 ** 3;
const WAL_CHECKED_EVERY = 16;

interface Prepared {
  readonly statement: ArrayStatement;
  /** True when the statement returns rows. */
  readonly answers: boolean;
  readonly onlyReads: boolean;
  readonly rowOf: (values: readonly unknown[]) => object;
}

type ArrayStatement = Omit<StatementSync, 'get' | 'all'> & {
  get(...values: SQLInputValue[]): unknown[] | undefined;
  all(...values: SQLInputValue[]): unknown[][];
};

/**
 * The driver returns dictionary-mode objects, which are slow. Objects from one literal share a shape and cost a tenth.
 */
function rowMaker(names: readonly string[]): Prepared['rowOf'] {
  const properties = names.map((name, i) => `${JSON.stringify(name)}: values[${i}]`);
  return new Function('values', `return { ${properties.join(', ')} };`) as Prepared['rowOf'];
}

/** One connection and the statements prepared on it. */
class Connection implements DatabaseConnection {
  readonly db: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();

  constructor({ location, readOnly }: SqliteFile) {
    this.db = new DatabaseSync(location, { readOnly, timeout: 10_000 });
    this.db.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;
      pragma temp_store = memory; pragma cache_size = -32768; pragma case_sensitive_like = on;
      pragma wal_autocheckpoint = 4000; pragma journal_size_limit = ${WAL_KEPT_BYTES}`);
  }

  prepare(text: string): Prepared {
    const kept = this.#statements.get(text);
    if (kept) return kept;
    if (this.#statements.size >= STATEMENTS_KEPT) this.#statements.delete(this.#statements.keys().next().value!);
    const statement = this.db.prepare(text);
    statement.setReturnArrays(true);
    const names = statement.columns().map(({ name }) => name);
    const prepared = {
      statement: statement as unknown as ArrayStatement,
      answers: names.length > 0,
      onlyReads: onlyReads(text),
      rowOf: rowMaker(names),
    };
    this.#statements.set(text, prepared);
    return prepared;
  }

  first<R>(text: string, values: readonly unknown[]): R | undefined {
    const { statement, rowOf } = this.prepare(text);
    const row = statement.get(...(values as SQLInputValue[]));
    return row && (rowOf(row) as R);
  }

  all<R>(text: string, values: readonly unknown[]): R[] {
    const { statement, rowOf } = this.prepare(text);
    return statement.all(...(values as SQLInputValue[])).map((row) => rowOf(row) as R);
  }

  run<R>(text: string, values: readonly unknown[]): QueryResult<R> {
    const { statement, answers } = this.prepare(text);
    if (answers) return { rows: this.all<R>(text, values) };
    const { changes, lastInsertRowid } = statement.run(...(values as SQLInputValue[]));
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  /** The same without a result. */
  execute(text: string, values: readonly unknown[]): void {
    this.prepare(text).statement.run(...(values as SQLInputValue[]));
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    return this.run<R>(...withLiteralLimits(compiled.sql, compiled.parameters));
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams rows
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed on SQLite: page through them');
  }
}

/**
 * The reading connection. All reads of one event-loop tick share a transaction, because starting one costs as much as
 * most reads.
 */
class ReadingConnection extends Connection {
  #isOpen = false;

  override first<R>(text: string, values: readonly unknown[]): R | undefined {
    this.#begin(text);
    return super.first<R>(text, values);
  }

  override all<R>(text: string, values: readonly unknown[]): R[] {
    this.#begin(text);
    return super.all<R>(text, values);
  }

  override run<R>(text: string, values: readonly unknown[]): QueryResult<R> {
    this.#begin(text);
    return super.run<R>(text, values);
  }

  #begin(text: string): void {
    // Statements other than reads run outside the transaction, because they would block the writer.
    if (!this.prepare(text).onlyReads) this.end();
    else if (!this.#isOpen) {
      this.execute('begin', []);
      this.#isOpen = true;
      setImmediate(() => this.end());
    }
  }

  /**
   * Ends the read transaction, so that the next read sees the newest data. The writer calls it, also because the WAL
   * restarts only without readers.
   */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.execute('commit', []);
  }

  close(): void {
    this.end();
    this.db.close();
  }
}

/** Runs indexed reads directly and scans in the background reader. */
class Readers implements DatabaseConnection {
  readonly #reading: ReadingConnection;
  readonly #background: BackgroundReader;

  constructor(reading: ReadingConnection, background: BackgroundReader) {
    this.#reading = reading;
    this.#background = background;
  }

  executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    const connection = compiled.sql.includes(MAY_SCAN) ? this.#background : this.#reading;
    return connection.executeQuery<R>(compiled);
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    return this.#reading.streamQuery<R>();
  }
}

/** Kysely over a connection that is already open and, for the writer, already in a transaction. */
function queryOver(connection: DatabaseConnection): Kysely<Tables> {
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
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

interface Task {
  work(transaction: Transaction): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Settle = () => void;

/** The running commit of each database file in this process. */
const underWay = new Map<string, Promise<void>>();

/** Queues writers that share a file: SQLite itself would block the process, including the other writer. */
async function oneAtATime(file: string, work: () => Promise<void>): Promise<void> {
  while (underWay.has(file)) await underWay.get(file);
  const done = work().finally(() => underWay.delete(file));
  underWay.set(file, done);
  await done;
}

/** After this time readers run, even between writes of one commit. */
const TURN_MS = 1;
const nextTurn = () => new Promise((turn) => setImmediate(turn));

/**
 * Groups concurrent writes into one transaction, each in its own savepoint, and settles them after one fsync:
 * `synchronous = full` then costs once per commit instead of per write.
 */
class Writer {
  readonly #file: string;
  readonly #connection: Connection;
  readonly #query: Kysely<Tables>;
  readonly #changes: Changes;
  readonly #reading: ReadingConnection;
  readonly #statements: Pick<Transaction, 'first' | 'all' | 'run'>;
  readonly #queue: Task[] = [];
  readonly #walBytesMax: number;
  #draining: Promise<void> | undefined;
  #untilWalCheck = 0;
  readonly counters = { commits: 0, writes: 0 };

  constructor(file: string, connection: Connection, reading: ReadingConnection, changes: Changes, walBytesMax: number) {
    this.#walBytesMax = walBytesMax;
    this.#file = file;
    this.#reading = reading;
    this.#connection = connection;
    this.#query = queryOver(connection);
    this.#changes = changes;
    this.#statements = {
      ...readsOn(connection),
      run: (write, values) => connection.execute(...withLiteralLimits(write.text, values)),
    };
  }

  write<T>(work: Task['work']): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as Task['resolve'], reject });
      this.#draining ??= this.#drain();
    });
  }

  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      await oneAtATime(this.#file, () => this.#commit(this.#queue.splice(0, BATCH_MAX)));
    }
    this.#draining = undefined;
  }

  /** Waits while event-loop ticks bring further writes. */
  async #gather(): Promise<void> {
    let seen: number;
    do {
      seen = this.#queue.length;
      await nextTurn();
    } while (this.#queue.length > seen && this.#queue.length < BATCH_MAX);
  }

  async #commit(tasks: Task[]): Promise<void> {
    const settles: Settle[] = [];
    const scopes = new Set<string>();
    try {
      this.#requireShortWal();
      await this.#begin();
      let began = performance.now();
      for (const task of tasks) {
        settles.push(await this.#attempt(task, scopes));
        if (performance.now() - began < TURN_MS) continue;
        await nextTurn();
        began = performance.now();
      }
      this.#reading.end();
      this.#connection.execute('commit', []);
      this.counters.commits += 1;
      this.counters.writes += tasks.length;
    } catch (error) {
      if (this.#connection.db.isTransaction) this.#connection.execute('rollback', []);
      for (const task of tasks) task.reject(error);
      return;
    }
    for (const scope of scopes) this.#changes.changed(scope);
    for (const settle of settles) settle();
  }

  /** Shortens a log that has become too large, and refuses to lengthen it if a reader prevents that. */
  #requireShortWal(): void {
    this.#untilWalCheck -= 1;
    if (this.#untilWalCheck > 0) return;
    const isLong = () => (statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > this.#walBytesMax;
    if (isLong()) {
      this.#reading.end();
      this.#connection.run('pragma wal_checkpoint(truncate)', []);
      if (isLong())
        throw Object.assign(new Error('a long read keeps the log of the database from being reused'), {
          code: WAL_TOO_LONG,
        });
    }
    this.#untilWalCheck = WAL_CHECKED_EVERY;
  }

  /**
   * Waits for other processes without blocking this one: it may itself hold the lock of the other environment's
   * database, which they wait for.
   */
  async #begin(): Promise<void> {
    const until = performance.now() + LOCK_PATIENCE_MS;
    for (let waitMs = 1; ; waitMs = Math.min(LOCK_RETRY_MS_MAX, waitMs * 2)) {
      try {
        return this.#connection.execute('begin immediate', []);
      } catch (error) {
        if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || performance.now() >= until) throw error;
      }
      await new Promise((retry) => setTimeout(retry, waitMs));
    }
  }

  async #attempt(task: Task, scopes: Set<string>): Promise<Settle> {
    const named: string[] = [];
    this.#connection.execute('savepoint task', []);
    try {
      const changed = (scope: string) => void named.push(scope);
      const value = await task.work({ ...this.#statements, query: this.#query, changed, changedHere: changed });
      this.#connection.execute('release task', []);
      for (const scope of named) scopes.add(scope);
      return () => task.resolve(value);
    } catch (error) {
      // On a full disk SQLite may have rolled back the whole transaction with its savepoints.
      if (!this.#connection.db.isTransaction) throw error;
      this.#connection.execute('rollback to task', []);
      this.#connection.execute('release task', []);
      return () => task.reject(error);
    }
  }
}

/** Opens or creates the embedded database in `file`. */
export function openSqlite(
  file: string,
  { readTimeoutMs = READ_TIMEOUT_MS, walBytesMax = WAL_BYTES_MAX } = {},
): Database {
  const opened = sqliteFile(file);
  const writing = new Connection(opened);
  writing.db.exec('pragma busy_timeout = 0');
  const reading = new ReadingConnection(opened);
  const changes = new Changes();
  const writer = new Writer(resolve(file), writing, reading, changes, walBytesMax);
  // What is kept as read after a change must not come from a snapshot before it.
  changes.listen(() => reading.end());
  const poll = pollForeignChanges(writing, changes);
  const backgroundReader = new BackgroundReader({ ...opened, budgetMs: readTimeoutMs }, READER_THREADS);
  const condition: Condition = { damage: [], isReadOnly: opened.readOnly };
  const closing = new AbortController();
  const database: Database = {
    dialect: 'sqlite',
    query: queryOver(new Readers(reading, backgroundReader)),
    readInWorker: queryOver(backgroundReader),
    ...readsOn(reading),
    write: (work) => writer.write(work),
    executeAlone: (text) => writer.write(async ({ query }) => void (await sql.raw(text).execute(query))),
    changes,
    check: async () => void reading.run('select 1', []),
    scrub: async () => {
      condition.damage = await scrubSqlite(opened.location, closing.signal);
      return [...condition.damage];
    },
    counters: writer.counters,
    condition,
    readConcurrency: READER_THREADS,
    get withLongTimeouts() {
      return database;
    },
    close: async () => {
      clearInterval(poll);
      closing.abort(new Error('the database was closed'));
      await writer.idle();
      await backgroundReader.close();
      reading.close();
      writing.db.close();
    },
  };
  return database;
}

const readsOn = (connection: Connection): Pick<Database, 'first' | 'all'> => ({
  first: <T>(statement: Statement, values: readonly Value[]) =>
    connection.first<T>(...withLiteralLimits(statement.text, values)),
  all: <T>(statement: Statement, values: readonly Value[]) =>
    connection.all<T>(...withLiteralLimits(statement.text, values)),
});

/**
 * `data_version` changes only when another connection commits. Nothing else writes in this process, so a change means
 * that another process wrote, in unknown scopes.
 */
function pollForeignChanges(writing: Connection, changes: Changes): NodeJS.Timeout {
  const version = () => writing.run<{ data_version: number }>('pragma data_version', []).rows[0]!.data_version;
  let known = version();
  return setInterval(() => {
    const seen = version();
    if (seen !== known) changes.everythingChanged();
    known = seen;
  }, FOREIGN_CHANGES_POLL_MS).unref();
}
