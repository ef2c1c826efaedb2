import { type CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import {
  Changes,
  type Database,
  onlyReads,
  READ_TIMEOUT_MS,
  type Statement,
  type Transaction,
  type Value,
} from './database.ts';
import { isLost, isStalePlan } from './failures.ts';
import { flushClient } from './postgres-durability.ts';
import { type ChangeNotificationOptions, listenForChanges } from './postgres-notifications.ts';
import { PreparedReads } from './postgres-reads.ts';
import { StatementNames } from './postgres-statements.ts';
import { queryOver, resultOf, Transactions } from './postgres-transactions.ts';

const CONNECTIONS_MAX = 10;
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
  const ofRead = { max, statement_timeout: readTimeoutMs, query_timeout: readTimeoutMs + SILENCE_MS };
  const pools = {
    reads: poolOf(url, ofRead),
    // Separate pools, so that slow reads cannot starve writes.
    works: poolOf(url, { max: Math.ceil(max / 2), statement_timeout: STATEMENT_TIMEOUT_MS }),
  };
  const writes = poolOf(url, { max, statement_timeout: STATEMENT_TIMEOUT_MS }, 'set synchronous_commit = off');
  const changes = new Changes();
  const names = new StatementNames();
  const preparedWithin = (timeoutMs: number, setting?: string) =>
    new PreparedReads({
      config: { ...configOf(url), statement_timeout: timeoutMs },
      ...(setting && { setting }),
      max: Math.ceil(max / 2),
      silenceMs: timeoutMs + SILENCE_MS,
      names,
    });
  const prepared = {
    ofRequests: preparedWithin(readTimeoutMs, GENERIC_PLANS),
    ofWorks: preparedWithin(STATEMENT_TIMEOUT_MS),
  };
  const transactions = new Transactions({ pool: writes, names, changes, openFlushes: () => flushClient(url) });
  const notifications = await listenForChanges(url, changes, options.notifications);
  const inCommon = {
    dialect: 'postgres',
    changes,
    counters: transactions.counters,
    readConcurrency: max,
    write: <T>(work: (transaction: Transaction) => Promise<T>) => transactions.write(work),
    close: async () => {
      await notifications.stop();
      const reads = Object.values(prepared).map((each) => each.close());
      await Promise.all([transactions.close(), ...reads, ...Object.values(pools).map((pool) => pool.end())]);
    },
  } as const;
  const withLongTimeouts: Database = {
    ...inCommon,
    ...readingFrom({ built: pools.works, prepared: prepared.ofWorks }, names),
    get withLongTimeouts() {
      return withLongTimeouts;
    },
  };
  const reads = readingFrom({ built: pools.reads, prepared: prepared.ofRequests }, names);
  return { ...inCommon, ...reads, withLongTimeouts };
}

/**
 * Hot reads look rows up by keys, so their plan does not depend on the values. By default the server compares costs and
 * then plans the larger ones at every execution.
 */
const GENERIC_PLANS = 'set plan_cache_mode = force_generic_plan';

const configOf = (url: string): pg.ClientConfig => ({
  connectionString: url,
  types,
  connectionTimeoutMillis: 5_000,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: 30_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEPALIVE_MS,
  application_name: 'modstead',
});

/** `setting` runs first on every connection. A pooler in between may refuse settings in the startup message. */
function poolOf(url: string, config: pg.PoolConfig, setting?: string): pg.Pool {
  const pool = new pg.Pool({
    ...configOf(url),
    ...(setting && { onConnect: (client) => client.query(setting) }),
    ...config,
  });
  // The pool replaces a broken connection; without a listener its error would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** `built` runs queries of the query builder, `prepared` the hot reads. */
interface ReadPools {
  readonly built: pg.Pool;
  readonly prepared: PreparedReads;
}

/** Reads on separate connections; a broken connection or a stale plan is retried once. */
function readingFrom(
  { built, prepared }: ReadPools,
  names: StatementNames,
): Pick<Database, 'query' | 'readInWorker' | 'first' | 'all' | 'check'> {
  const retried = async <T>(ask: () => Promise<T>, mayRepeat: boolean): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (isStalePlan(error)) names.renew();
      else if (!isLost(error)) throw error;
      if (!mayRepeat) throw error;
      return ask();
    }
  };
  const run = <T>(read: Statement, values: readonly Value[]) => retried(() => prepared.rows<T>(read, values), true);
  const query = queryOver(async <R>({ sql: text, parameters }: CompiledQuery) => {
    const ask = () => built.query({ name: names.ofText(text), text, values: [...parameters] } as pg.QueryConfig);
    return resultOf<R>(await retried(ask, onlyReads(text)));
  });
  return {
    query,
    readInWorker: query,
    first: async <T>(read: Statement, values: readonly Value[]) => (await run<T>(read, values))[0],
    all: run,
    check: async () => void (await sql`select 1`.execute(query)),
  };
}
