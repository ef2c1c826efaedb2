import pg from 'pg';
import { type Backend, PostgresConnection, socketOf } from './postgres-connection.ts';
import type { ConnectionWatch } from './postgres-watch.ts';

/** How long a request waits for a connection, and a statement for a lock. */
const PATIENCE_MS = 4_000;
const KEEPALIVE = { enable: true, initialDelay: 2_000, interval: 1_000, count: 3 };

/** Settings of a session. They are set by a statement, because a pooler may refuse them in the startup message. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/** Lets the server release the locks of a client that has vanished within seconds. */
const OF_EVERY_SESSION: SessionSettings = {
  lock_timeout: PATIENCE_MS,
  idle_in_transaction_session_timeout: 30_000,
  tcp_keepalives_idle: 2,
  tcp_keepalives_interval: 1,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 5_000,
};

/** The server refuses this setting on systems that cannot tell whether a client is still there. */
const WATCHED_CLIENT = `case when version() ~* 'linux|darwin|bsd'
  then set_config('client_connection_check_interval', '2s', false) end`;

const backends = new WeakMap<object, Backend>();

interface ConnectingOptions {
  readonly name?: string;
  readonly patienceMs?: number | undefined;
}

export const clientConfig = (
  url: string,
  { name = 'modstead', patienceMs = PATIENCE_MS }: ConnectingOptions = {},
): pg.ClientConfig => ({
  connectionString: url,
  connectionTimeoutMillis: patienceMs,
  // Of the statement that prepares a session; later ones do not use the driver.
  query_timeout: patienceMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEPALIVE.initialDelay,
  application_name: name,
});

async function prepare(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  const all = Object.entries({ ...OF_EVERY_SESSION, ...settings });
  const set = all.map(([name, value]) => `set_config('${name}', '${value}', false)`);
  const { rows } = await client.query<Backend>(
    `select pg_backend_pid() as pid, pg_postmaster_start_time()::text as server, ${WATCHED_CLIENT}, ${set.join(', ')}`,
  );
  backends.set(client, rows[0]!);
  socketOf(client).setKeepAlive(KEEPALIVE);
}

/** Older servers do not have all of them. */
const TIMEOUTS = `'statement_timeout', 'transaction_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout'`;

/** A client for a transaction that may take hours, whatever timeouts the server, the database or the role has. */
export async function openLongClient(url: string, name: string): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(url, { name }), query_timeout: 0 });
  // Its statements report it.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`select set_config(name, '0', false) from pg_settings where name in (${TIMEOUTS})`);
  } catch (error) {
    socketOf(client).destroy();
    throw error;
  }
  return client;
}

/** Takes over a client that is connected and prepared. */
export function takeOver(client: pg.ClientBase, watch: ConnectionWatch): PostgresConnection {
  const connection = new PostgresConnection(client, backends.get(client)!);
  watch.add(connection);
  return connection;
}

export interface Opened {
  readonly client: pg.Client;
  readonly connection: PostgresConnection;
}

export async function openConnection(
  config: pg.ClientConfig,
  settings: SessionSettings,
  watch: ConnectionWatch,
): Promise<Opened> {
  const client = new pg.Client(config);
  // The connection reports it to those who wait.
  client.on('error', () => {});
  try {
    await client.connect();
    await prepare(client, settings);
  } catch (error) {
    socketOf(client).destroy();
    throw error;
  }
  return { client, connection: takeOver(client, watch) };
}

/** A pool whose connections are taken over by their first user. */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #watch: ConnectionWatch;
  readonly #connections = new WeakMap<object, PostgresConnection>();

  constructor(config: pg.PoolConfig, settings: SessionSettings, watch: ConnectionWatch) {
    this.#pool = new pg.Pool({ ...config, onConnect: (client) => prepare(client, settings) });
    this.#watch = watch;
    // The pool replaces a broken connection; without a listener its error would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  async use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const { client, connection } = await this.#take();
    try {
      return await work(connection);
    } finally {
      client.release(connection.isBroken);
    }
  }

  /** The pool learns later than the connection that it broke. */
  async #take(): Promise<{ client: pg.PoolClient; connection: PostgresConnection }> {
    for (;;) {
      const client = await this.#pool.connect();
      const connection = this.#connections.get(client) ?? takeOver(client, this.#watch);
      this.#connections.set(client, connection);
      if (!connection.isBroken) return { client, connection };
      client.release(true);
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}
