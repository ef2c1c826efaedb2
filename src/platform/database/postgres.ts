import type { CompiledQuery } from 'kysely';
import {
  Changes,
  type Condition,
  type Database,
  onlyReads,
  READ_TIMEOUT_MS,
  type Statement,
  type Transaction,
  type Value,
} from './database.ts';
import { isLost, isNotConnected, isReadOnly, isStalePlan } from './failures.ts';
import { ConnectionPool, clientConfig, openConnection, type SessionSettings } from './postgres-connecting.ts';
import { openFlushes } from './postgres-durability.ts';
import { type ChangeNotificationOptions, listenForChanges } from './postgres-notifications.ts';
import { PreparedReads, toExecute } from './postgres-reads.ts';
import { ReplicaState } from './postgres-replica.ts';
import { StatementNames } from './postgres-statements.ts';
import { queryOver, resultOf, Transactions } from './postgres-transactions.ts';
import { ConnectionWatch } from './postgres-watch.ts';

const CONNECTIONS_MAX = 10;
const STATEMENT_TIMEOUT_MS = 20_000;

export interface PostgresOptions {
  readonly connectionsMax?: number;
  /** Timeout of a read. */
  readonly readTimeoutMs?: number;
  readonly notifications?: ChangeNotificationOptions;
  /** A replica that serves reads of requests while it has everything. */
  readonly readUrl?: string | undefined;
  /** How long a statement goes unanswered before its connection is verified. */
  readonly quietMs?: number;
  /** How long a request waits for a connection, and a statement for a lock. */
  readonly patienceMs?: number | undefined;
}

/** Connects to the PostgreSQL (15 or newer) at `url`. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  const { connectionsMax: max = CONNECTIONS_MAX, readTimeoutMs = READ_TIMEOUT_MS } = options;
  const watch = new ConnectionWatch(options.quietMs);
  const { patienceMs } = options;
  const config = clientConfig(url, { patienceMs });
  const patience: SessionSettings = patienceMs === undefined ? {} : { lock_timeout: patienceMs };
  const poolOf = (size: number, settings: SessionSettings) =>
    new ConnectionPool({ ...config, max: size }, { ...patience, ...settings }, watch);
  const pools = {
    reads: poolOf(max, { statement_timeout: readTimeoutMs }),
    // Separate pools, so that slow reads cannot starve writes.
    works: poolOf(Math.ceil(max / 2), { statement_timeout: STATEMENT_TIMEOUT_MS }),
  };
  const writes = poolOf(max, { statement_timeout: STATEMENT_TIMEOUT_MS, synchronous_commit: 'off' });
  const changes = new Changes();
  const names = new StatementNames();
  const prepared = new PreparedReads({
    config,
    settings: { statement_timeout: readTimeoutMs, ...GENERIC_PLANS },
    watch,
    max: Math.ceil(max / 2),
  });
  const flushes = () => openFlushes(url, watch);
  const replica =
    options.readUrl === undefined ? undefined : openReplica(options.readUrl, changes, pools.works, options);
  const transactions = new Transactions({ pool: writes, names, changes, openFlushes: flushes });
  const notifications = await listenForChanges(url, changes, watch, options.notifications);
  const condition: Condition = { damage: [], isReadOnly: false };
  const inCommon = {
    dialect: 'postgres',
    changes,
    counters: transactions.counters,
    readConcurrency: max,
    write: async <T>(work: (transaction: Transaction) => Promise<T>) => {
      try {
        return await transactions.write(work);
      } finally {
        replica?.state.wrote();
      }
    },
    condition,
    scrub: async () => (condition.damage = await checksumFailures(pools.works)),
    executeAlone: async (text: string) => {
      const { client, connection } = await openConnection(config, { statement_timeout: 0, lock_timeout: 0 }, watch);
      try {
        await connection.execute({ text });
      } finally {
        await client.end();
      }
    },
    close: async () => {
      await notifications.stop();
      await replica?.close();
      await Promise.all([transactions.close(), prepared.close(), pools.reads.end(), pools.works.end()]);
    },
  } as const;
  const withLongTimeouts: Database = {
    ...inCommon,
    ...readingFrom({ built: pools.works, prepared: preparedOn(pools.works) }, names, condition),
    get withLongTimeouts() {
      return withLongTimeouts;
    },
  };
  const reads = readingFrom({ built: pools.reads, prepared }, names, condition, replica);
  await reads.check();
  return { ...inCommon, ...reads, withLongTimeouts };
}

interface Replica extends ReadPools {
  readonly state: ReplicaState;
  readonly names: StatementNames;
  close(): Promise<void>;
}

/** Its connections are verified by heartbeats of their own, because a replica cannot listen. */
function openReplica(url: string, changes: Changes, primary: ConnectionPool, options: PostgresOptions): Replica {
  const { connectionsMax: max = CONNECTIONS_MAX, readTimeoutMs = READ_TIMEOUT_MS } = options;
  const watch = new ConnectionWatch(options.quietMs);
  const config = clientConfig(url, { patienceMs: options.patienceMs });
  const names = new StatementNames();
  const settings = { statement_timeout: readTimeoutMs };
  const built = new ConnectionPool({ ...config, max }, settings, watch);
  const prepared = new PreparedReads({
    config,
    settings: { ...settings, ...GENERIC_PLANS },
    watch,
    max: Math.ceil(max / 2),
  });
  const valueFrom = async (pool: ConnectionPool, text: string, values: readonly string[] = []) => {
    const { rows } = await pool.use((connection) => connection.execute({ name: text.slice(0, 24), text, values }));
    return (rows as { value: string | number | null }[])[0]!.value;
  };
  const state = new ReplicaState({
    changes,
    written: async () => String(await valueFrom(primary, 'select pg_current_wal_insert_lsn()::text as value')),
    hasReplayed: async (position) => (await valueFrom(built, REPLAYED, [position])) === 1,
    silent: (sinceMs) => watch.silent(sinceMs),
  });
  const close = async () => {
    state.stop();
    await Promise.all([built.end(), prepared.close()]);
  };
  return { built, prepared, names, state, close };
}

const REPLAYED = 'select case when pg_last_wal_replay_lsn() >= $1::pg_lsn then 1 else 0 end as value';

/**
 * Hot reads look rows up by keys, so their plan does not depend on the values. By default the server compares costs and
 * then plans the larger ones at every execution. A table that is empty now would be scanned for as long as the plan is
 * kept, also when it has thousands of rows, such as the counts that are not folded in yet.
 */
const GENERIC_PLANS: SessionSettings = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

/** PostgreSQL verifies pages when it reads them, and counts what it finds. */
async function checksumFailures(pool: ConnectionPool): Promise<string[]> {
  const text = `select checksum_failures as failures from pg_stat_database
    where datname = current_database() and checksum_failures > 0`;
  const { rows } = await pool.use((connection) => connection.execute({ text }));
  return (rows as { failures: number }[]).map(({ failures }) => `${failures} pages with a wrong checksum`);
}

/** `built` runs queries of the query builder, `prepared` the hot reads. */
interface ReadPools {
  readonly built: ConnectionPool;
  readonly prepared: Pick<PreparedReads, 'rows'>;
}

/** Jobs have few prepared reads, and connections of their own would exceed what PostgreSQL allows several processes. */
const preparedOn = (pool: ConnectionPool): ReadPools['prepared'] => ({
  rows: async <T>(read: Statement, values: readonly Value[], name: string) => {
    const { rows } = await pool.use((connection) => connection.execute(toExecute(read, values, name)));
    return rows as T[];
  },
});

/** A standby and a server that was set to be read-only both say so. */
const CHECK = "select (current_setting('transaction_read_only') = 'on')::int as is_read_only";

/** Reads on separate connections; a broken connection or a stale plan is retried once. */
function readingFrom(
  primary: ReadPools,
  names: StatementNames,
  condition: Condition,
  replica?: Replica,
): Pick<Database, 'query' | 'readInWorker' | 'first' | 'all' | 'check'> {
  const retried = async <T>(ask: () => Promise<T>, mayRepeat: boolean, known: StatementNames): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (isStalePlan(error)) known.renew();
      else if (!isLost(error)) throw error;
      if (!mayRepeat) throw error;
      return ask();
    }
  };
  // Such as functions that write.
  const onPrimaryOnly = new Set<string>();
  const routed = async <T>(
    text: string,
    isRead: boolean,
    ask: (pools: ReadPools, known: StatementNames) => Promise<T>,
  ): Promise<T> => {
    const onPrimary = () => retried(() => ask(primary, names), isRead, names);
    if (!replica || !isRead || onPrimaryOnly.has(text)) return onPrimary();
    if (replica.state.isCurrent)
      try {
        return await ask(replica, replica.names);
      } catch (error) {
        if (isStalePlan(error)) replica.names.renew();
        if (isReadOnly(error)) onPrimaryOnly.add(text);
      }
    try {
      return await onPrimary();
    } catch (error) {
      if (!isAway(error) || !replica.state.hasOwnWrites) throw error;
      return ask(replica, replica.names);
    }
  };
  const run = <T>(read: Statement, values: readonly Value[]) =>
    routed(read.postgres, true, ({ prepared }, known) => prepared.rows<T>(read, values, known.of(read)));
  const query = queryOver(async <R>({ sql: text, parameters }: CompiledQuery) => {
    const asked = routed(text, onlyReads(text), ({ built }, known) =>
      built.use((connection) => connection.execute({ name: known.ofText(text), text, values: parameters })),
    );
    return resultOf<R>(await asked);
  });
  return {
    query,
    readInWorker: query,
    first: async <T>(read: Statement, values: readonly Value[]) => (await run<T>(read, values))[0],
    all: run,
    check: async () => {
      const { rows } = await primary.built.use((connection) => connection.execute({ name: 'check', text: CHECK }));
      condition.isReadOnly = (rows as { is_read_only: number }[])[0]!.is_read_only === 1;
    },
  };
}

const isAway = (error: unknown): boolean => isLost(error) || isNotConnected(error);
