import pg from 'pg';

/** While other transactions are open, a flush waits this long for their commits. */
const GATHER_MS = 6;

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** Any record makes this commit wait for the log up to it, and with it for all earlier commits. */
const FLUSH = "select pg_logical_emit_message(true, 'modstead', '')";

/**
 * A connection that makes earlier commits durable. A flush counts only for transactions that began while the connection
 * was open: if the server restarted in between, it may have lost them.
 */
class FlushConnection {
  readonly #client: pg.Client;
  readonly #isAlone: () => boolean;
  readonly #flushed: () => void;
  #waiters: Waiter[] = [];
  #flushing: Promise<void> | undefined;
  failure: { readonly error: unknown } | undefined;

  constructor(client: pg.Client, isAlone: () => boolean, flushed: () => void) {
    this.#client = client;
    this.#isAlone = isAlone;
    this.#flushed = flushed;
    client.on('error', (error) => this.#fail(error));
    client.on('end', () => this.#fail(new Error('Connection terminated')));
  }

  /** Resolves after a flush that began after this call. */
  durable(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.failure) return reject(this.failure.error);
      this.#waiters.push({ resolve, reject });
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = undefined;
      });
    });
  }

  async end(): Promise<void> {
    await this.#flushing;
    await this.#client.end();
  }

  async #flush(): Promise<void> {
    while (this.#waiters.length > 0 && !this.failure) {
      await this.#gather();
      const waiters = this.#waiters.splice(0);
      try {
        await this.#client.query({ name: 'flush', text: FLUSH });
        this.#flushed();
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        for (const { reject } of waiters) reject(error);
        this.#fail(error);
      }
    }
  }

  async #gather(): Promise<void> {
    const until = performance.now() + GATHER_MS;
    while (!this.#isAlone() && performance.now() < until) await new Promise((turn) => setTimeout(turn, 1));
  }

  #fail(error: unknown): void {
    this.failure ??= { error };
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}

/** Opens a flush connection, and a new one after it broke. */
export class Durability {
  readonly #open: () => pg.Client;
  readonly #isAlone: () => boolean;
  readonly #flushed: () => void;
  #connection: Promise<FlushConnection> | undefined;
  #current: FlushConnection | undefined;

  constructor(parts: { open: () => pg.Client; isAlone: () => boolean; flushed: () => void }) {
    this.#open = parts.open;
    this.#isAlone = parts.isAlone;
    this.#flushed = parts.flushed;
  }

  /** Call it before the transaction begins. */
  connection(): FlushConnection | Promise<FlushConnection> {
    if (this.#current && !this.#current.failure) return this.#current;
    this.#connection ??= this.#connect().finally(() => {
      this.#connection = undefined;
    });
    return this.#connection;
  }

  async end(): Promise<void> {
    await this.#connection?.catch(() => {});
    await this.#current?.end().catch(() => {});
  }

  async #connect(): Promise<FlushConnection> {
    const client = this.#open();
    await client.connect();
    this.#current = new FlushConnection(client, this.#isAlone, this.#flushed);
    return this.#current;
  }
}

export const flushClient = (url: string): pg.Client =>
  new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    query_timeout: 20_000,
    application_name: 'modstead flush',
  });
