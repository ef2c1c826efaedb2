import { CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import {
  Changes,
  type Database,
  type Query,
  type Statement,
  type Tables,
  type Transaction,
  type Value,
} from './database.ts';
import { isLost } from './lost.ts';

const CHANNEL = 'modstead_changes';
const RECONNECT_MS = 500;
const ATTEMPTS_MAX = 5;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

// Ids and unix seconds fit a double; the driver would hand them over as text.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    const INT8 = 20;
    const NUMERIC = 1700;
    if (oid === INT8 || oid === NUMERIC) return Number;
    return pg.types.getTypeParser(oid, format as 'text');
  },
} as pg.CustomTypesConfig;

/** Connects to the PostgreSQL (15 or newer) at `url`. */
export async function openPostgres(url: string, options: { connectionsMax?: number } = {}): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connectionsMax ?? 10,
    types,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 20_000,
    lock_timeout: 5_000,
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'modstead',
  });
  // A connection that breaks is replaced by the pool; without a listener it would end the process, idle or not.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const changes = new Changes();
  const listening = await listenForChanges(url, changes);
  const figures = { commits: 0, writes: 0 };
  const ask = (read: Statement, values: readonly Value[]) =>
    pool.query({ name: nameOf(read), text: read.postgres, values: values as Value[] });
  const run = async <T>(read: Statement, values: readonly Value[]) => {
    const { rows } = await ask(read, values).catch((error) => {
      if (!isLost(error)) throw error;
      return ask(read, values);
    });
    return rows as T[];
  };
  return {
    dialect: 'postgres',
    query,
    aside: query,
    first: async <T>(read: Statement, values: readonly Value[]) => (await run<T>(read, values))[0],
    all: run,
    write: async (work) => {
      const value = await inTransaction(query, changes, work);
      figures.commits += 1;
      figures.writes += 1;
      return value;
    },
    changes,
    check: async () => void (await sql`select 1`.execute(query)),
    figures,
    close: async () => {
      await listening.stop();
      await query.destroy();
    },
  };
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
      // The notification comes back later; the writer itself must read what it wrote at once.
      for (const scope of scopes) changes.changed(scope);
      return value;
    } catch (error) {
      // Whether what was lost while it was committed is there, nobody knows.
      const isGone = isLost(error) && !isCommitting;
      if (attempt >= ATTEMPTS_MAX || !(isPassing(error) || isGone)) throw error;
    }
  }
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

function isPassing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Hears of other nodes' changes. While it is deaf, everything counts as changed at each attempt. */
async function listenForChanges(url: string, changes: Changes): Promise<{ stop(): Promise<void> }> {
  let client: pg.Client | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const connect = async () => {
    const next = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      application_name: 'modstead changes',
    });
    next.on('notification', ({ payload }) => payload && changes.changed(payload));
    next.on('error', () => {});
    next.on('end', retry);
    await next.connect();
    await next.query(`listen ${CHANNEL}`);
    client = next;
    changes.everythingChanged();
  };
  const retry = () => {
    if (stopped) return;
    changes.everythingChanged();
    clearTimeout(timer);
    timer = setTimeout(() => connect().catch(retry), RECONNECT_MS).unref();
  };
  await connect();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
