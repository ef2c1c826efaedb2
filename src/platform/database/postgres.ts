import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely';
import pg from 'pg';
import {
  Changes,
  type Database,
  onlyReads,
  type Query,
  READ_TIMEOUT_MS,
  type Statement,
  type Tables,
  type Transaction,
  type Value,
} from './database.ts';
import { isCollision, isLockTimeout, isLost, isOrphan, isReadOnly, isStalePlan } from './failures.ts';
import { CHANNEL, type ChangeNotificationOptions, listenForChanges } from './postgres-notifications.ts';

const CONNECTIONS_MAX = 10;
const ATTEMPTS_MAX = 5;
/** Each attempt has already waited for the lock timeout. */
const LOCK_ATTEMPTS_MAX = 3;
const ORPHAN_ATTEMPTS_MAX = 2;
const LOCK_TIMEOUT_MS = 4_000;
const STATEMENT_TIMEOUT_MS = 20_000;
/** The server would have cancelled the statement by now, so the connection is dead. */
const SILENCE_MS = 5_000;
const KEEPALIVE_MS = 10_000;

// Ids and unix seconds fit a double; the driver would hand them over as text.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    const INT8 = 20;
    const NUMERIC = 1700;
    if (oid === INT8 || oid === NUMERIC) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as pg.CustomTypesConfig;

export interface PostgresOptions {
  readonly connectionsMax?: number;
  /** Timeout of a read. */
  readonly readTimeoutMs?: number;
  readonly notifications?: ChangeNotificationOptions;
}

/** Connects to the PostgreSQL (15 or newer) at `url`. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  const { connectionsMax: max = CONNECTIONS_MAX, readTimeoutMs = READ_TIMEOUT_MS } = options;
  const reads = poolOf(url, { max, statement_timeout: readTimeoutMs, query_timeout: readTimeoutMs + SILENCE_MS });
  // Separate pools, so that slow reads cannot starve writes.
  const works = poolOf(url, { max, statement_timeout: STATEMENT_TIMEOUT_MS });
  const transactions = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: fitOf(works) }) });
  const changes = new Changes();
  const notifications = await listenForChanges(url, changes, options.notifications);
  const counters = { commits: 0, writes: 0 };
  const inCommon = {
    dialect: 'postgres',
    changes,
    counters,
    readConcurrency: max,
    write: async <T>(work: (transaction: Transaction) => Promise<T>) => {
      const value = await inTransaction(transactions, changes, work);
      counters.commits += 1;
      counters.writes += 1;
      return value;
    },
    close: async () => {
      await notifications.stop();
      await Promise.all([reads.end(), transactions.destroy()]);
    },
  } as const;
  const withLongTimeouts: Database = {
    ...inCommon,
    ...readingFrom(works),
    get withLongTimeouts() {
      return withLongTimeouts;
    },
  };
  return { ...inCommon, ...readingFrom(reads), withLongTimeouts };
}

function poolOf(url: string, config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    types,
    connectionTimeoutMillis: 5_000,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    application_name: 'modstead',
    ...config,
  });
  // The pool replaces a broken connection; without a listener its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Reads on separate connections; a broken connection or a stale plan is retried once. */
function readingFrom(pool: pg.Pool): Pick<Database, 'query' | 'readInWorker' | 'first' | 'all' | 'check'> {
  const ask = (read: Statement, values: readonly Value[]) =>
    pool.query({ name: nameOf(read), text: read.postgres, values: values as Value[] });
  const run = async <T>(read: Statement, values: readonly Value[]) => {
    const name = nameOf(read);
    const { rows } = await ask(read, values).catch((error) => {
      if (!isLost(error) && !isStalePlan(error)) throw error;
      if (isStalePlan(error)) rename(read, name);
      return ask(read, values);
    });
    return rows as T[];
  };
  const query = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => new ReadingDriver(pool),
    },
  });
  return {
    query,
    readInWorker: query,
    first: async <T>(read: Statement, values: readonly Value[]) => (await run<T>(read, values))[0],
    all: run,
    check: async () => void (await sql`select 1`.execute(query)),
  };
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

class ReadingDriver implements DatabaseConnection {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const ask = () => this.#pool.query(text, [...parameters]);
    const { command, rowCount, rows } = await ask().catch((error) => {
      if (!(isLost(error) || isStalePlan(error)) || !onlyReads(text)) throw error;
      return ask();
    });
    return { rows, ...(WRITES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }) };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams rows
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed: page through them');
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this;
  }
  async releaseConnection(): Promise<void> {}
  async beginTransaction(): Promise<void> {
    throw new Error('transactions are made by Database.write');
  }
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async destroy(): Promise<void> {}
}

const names = new WeakMap<Statement, string>();
let named = 0;

function nameOf(read: Statement): string {
  const known = names.get(read);
  if (known) return known;
  const name = `modstead_${++named}`;
  names.set(read, name);
  return name;
}

/** A new name makes every connection prepare the statement again. */
function rename(read: Statement, failed: string): void {
  if (names.get(read) === failed) names.delete(read);
}

/** A pool that drops connections after failures that they would repeat. */
function fitOf(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => {
      const client = await pool.connect();
      let isUnfit = false;
      const query = async (text: string, values: readonly unknown[]) => {
        try {
          return await client.query(text, values as unknown[]);
        } catch (error) {
          isUnfit ||= isLost(error) || isReadOnly(error);
          throw error;
        }
      };
      return { query, release: () => client.release(isUnfit) } as unknown as PostgresPoolClient;
    },
    end: () => pool.end(),
  };
}

async function inTransaction<T>(query: Query, changes: Changes, work: (t: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const scopes = new Set<string>();
    let isCommitting = false;
    try {
      const value = await query.transaction().execute(async (inner) => {
        const result = await work({ ...statementsIn(inner), query: inner, changed: (scope) => scopes.add(scope) });
        for (const scope of scopes) await sql`select pg_notify(${CHANNEL}, ${scope})`.execute(inner);
        isCommitting = true;
        return result;
      });
      // The notification arrives later, but the writer must see its own changes at once.
      for (const scope of scopes) changes.changed(scope);
      return value;
    } catch (error) {
      if (attempt >= attemptsFor(error, isCommitting)) throw error;
    }
  }
}

/** Maximum attempts for this failure. After a connection loss during commit the outcome is unknown. */
function attemptsFor(error: unknown, isCommitting: boolean): number {
  if (isCollision(error)) return ATTEMPTS_MAX;
  if (isCommitting) return 1;
  if (isOrphan(error)) return ORPHAN_ATTEMPTS_MAX;
  if (isLockTimeout(error)) return LOCK_ATTEMPTS_MAX;
  return isLost(error) || isReadOnly(error) || isStalePlan(error) ? ATTEMPTS_MAX : 1;
}

function statementsIn(query: Query): Pick<Transaction, 'first' | 'all' | 'run'> {
  const execute = async <T>(each: Statement, values: readonly Value[]) =>
    (await query.executeQuery(CompiledQuery.raw(each.postgres, [...values]))).rows as T[];
  return {
    all: execute,
    first: async <T>(read: Statement, values: readonly Value[]) => (await execute<T>(read, values))[0],
    run: async (write, values) => void (await execute(write, values)),
  };
}
