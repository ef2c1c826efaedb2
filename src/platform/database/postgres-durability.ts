import { clientConfig, type Opened, openConnection } from './postgres-connecting.ts';
import type { PostgresConnection, ToExecute } from './postgres-connection.ts';
import type { ConnectionWatch } from './postgres-watch.ts';

/** While other transactions are open, a flush waits this long for their commits. */
const GATHER_MS = 10;
/** With a synchronous standby a flush waits for it. The server must not cancel that: it would report success. */
const FLUSH_TIMEOUT_MS = 20_000;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** Any record makes this commit wait for the log up to it, and with it for all earlier commits. */
const FLUSH: ToExecute = { name: 'flush', text: "select pg_logical_emit_message(true, 'modstead', '')" };

/** Connections for writes do not wait for the log. */
const FLUSH_OF_WRITES: readonly ToExecute[] = [
  { text: 'reset synchronous_commit' },
  FLUSH,
  { text: 'set synchronous_commit to off' },
];

/**
 * Makes the commits of a connection durable by that connection itself. It counts as long as the connection is open: a
 * server that restarts, and may lose commits, closes all of them.
 */
export async function flushOn(connection: PostgresConnection): Promise<void> {
  try {
    await flushBy(connection, FLUSH_OF_WRITES);
  } catch (error) {
    connection.break('its flush failed');
    throw error;
  }
}

async function flushBy(connection: PostgresConnection, statements: readonly ToExecute[]): Promise<void> {
  const patience = setTimeout(() => connection.break('a flush took too long'), FLUSH_TIMEOUT_MS);
  try {
    for (const each of statements) {
      const { warning } = await connection.execute(each);
      // The wait for a standby was cancelled, so the commits may exist on this server only.
      if (warning) throw new Error(`Connection terminated: ${warning}`);
    }
  } finally {
    clearTimeout(patience);
  }
}

/**
 * A connection that makes earlier commits durable. A flush counts only for transactions that began while the connection
 * was open: if the server restarted in between, it may have lost them.
 */
export class FlushConnection {
  readonly #opened: Opened;
  readonly #isAlone: () => boolean;
  readonly #flushed: () => void;
  #waiters: Waiter[] = [];
  #flushing: Promise<void> | undefined;
  #gathered: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(opened: Opened, isAlone: () => boolean, flushed: () => void) {
    this.#opened = opened;
    this.#isAlone = isAlone;
    this.#flushed = flushed;
    opened.client.on('error', (error) => this.#fail(error));
    opened.client.on('end', () => this.#fail(new Error('Connection terminated')));
  }

  get isBroken(): boolean {
    return this.#failure !== undefined || this.#opened.connection.isBroken;
  }

  /** True if transactions on this connection reached the server that is flushed: a failover may part the two. */
  reaches({ backend }: PostgresConnection): boolean {
    return backend.server === this.#opened.connection.backend.server;
  }

  break(reason: string): void {
    this.#opened.connection.break(reason);
  }

  /** Resolves after a flush that began after this call. */
  durable(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.error);
      this.#waiters.push({ resolve, reject });
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = undefined;
      });
    });
  }

  /** No transaction is open any more. Those that committed last ask for their flush in this turn of the event loop. */
  noMoreOpen(): void {
    if (this.#gathered) setImmediate(this.#gathered);
  }

  async end(): Promise<void> {
    await this.#flushing;
    await this.#opened.client.end();
  }

  async #flush(): Promise<void> {
    while (this.#waiters.length > 0 && !this.#failure) {
      await this.#gather();
      const waiters = this.#waiters.splice(0);
      try {
        await flushBy(this.#opened.connection, [FLUSH]);
        this.#flushed();
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        for (const { reject } of waiters) reject(error);
        this.#fail(error);
      }
    }
  }

  async #gather(): Promise<void> {
    if (this.#isAlone()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gathered = resolve;
    const timer = setTimeout(resolve, GATHER_MS);
    await promise;
    this.#gathered = undefined;
    clearTimeout(timer);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}

/** Opens a flush connection, and a new one after it broke. */
export class Durability {
  readonly #open: () => Promise<Opened>;
  readonly #isAlone: () => boolean;
  readonly #flushed: () => void;
  #connection: Promise<FlushConnection> | undefined;
  #current: FlushConnection | undefined;

  constructor(parts: { open: () => Promise<Opened>; isAlone: () => boolean; flushed: () => void }) {
    this.#open = parts.open;
    this.#isAlone = parts.isAlone;
    this.#flushed = parts.flushed;
  }

  /** Call it before the transaction begins. */
  connection(): FlushConnection | Promise<FlushConnection> {
    if (this.#current && !this.#current.isBroken) return this.#current;
    this.#connection ??= this.#connect().finally(() => {
      this.#connection = undefined;
    });
    return this.#connection;
  }

  noMoreOpen(): void {
    this.#current?.noMoreOpen();
  }

  async end(): Promise<void> {
    await this.#connection?.catch(() => {});
    await this.#current?.end().catch(() => {});
  }

  async #connect(): Promise<FlushConnection> {
    this.#current = new FlushConnection(await this.#open(), this.#isAlone, this.#flushed);
    return this.#current;
  }
}

export const openFlushes = (url: string, watch: ConnectionWatch): Promise<Opened> =>
  openConnection(clientConfig(url, { name: 'modstead flush' }), { statement_timeout: 0 }, watch);
