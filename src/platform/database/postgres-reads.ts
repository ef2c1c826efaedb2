import pg from 'pg';
import type { Statement, Value } from './database.ts';
import { PostgresConnection } from './postgres-connection.ts';
import type { StatementNames } from './postgres-statements.ts';

/** An idle connection is closed after this long, as the driver's pools do. */
const IDLE_MS = 10_000;
const CHECK_MS = 1_000;

export interface PreparedReadsOptions {
  readonly config: pg.ClientConfig;
  /** Runs first on every connection. */
  readonly setting?: string;
  readonly max: number;
  /** A connection that returns nothing for this long is dead. */
  readonly silenceMs: number;
  readonly names: StatementNames;
}

interface Open {
  readonly client: pg.Client;
  readonly connection: PostgresConnection;
  usedAt: number;
}

/** Prepared reads on a few connections. A read takes the one with the fewest reads under way. */
export class PreparedReads {
  readonly #options: PreparedReadsOptions;
  readonly #open = new Set<Open>();
  #connecting: Promise<Open> | undefined;
  #checking: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PreparedReadsOptions) {
    this.#options = options;
  }

  async rows<T>(read: Statement, values: readonly Value[]): Promise<T[]> {
    const least = this.#leastLoaded();
    const isFree = least && (least.connection.load === 0 || this.#open.size >= this.#options.max);
    const open = isFree ? least : await this.#more(least);
    open.usedAt = performance.now();
    const name = this.#options.names.of(read);
    const { rows } = await open.connection.execute({
      name,
      text: read.postgres,
      values,
      inBytes: read.inBytes === true,
    });
    return rows as T[];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#checking);
    await this.#connecting?.catch(() => {});
    await Promise.all([...this.#open].map(({ client }) => client.end().catch(() => {})));
  }

  #leastLoaded(): Open | undefined {
    let least: Open | undefined;
    for (const each of this.#open)
      if (each.connection.isBroken) this.#open.delete(each);
      else if (!least || each.connection.load < least.connection.load) least = each;
    return least;
  }

  /** Opens connections one after the other. Meanwhile reads use the open ones. */
  #more(least: Open | undefined): Open | Promise<Open> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    if (!least) return this.#connecting;
    this.#connecting.catch(() => {});
    return least;
  }

  async #connect(): Promise<Open> {
    if (this.#isClosed) throw new Error('Client was closed');
    const client = new pg.Client(this.#options.config);
    // The connection reports it to those who wait.
    client.on('error', () => {});
    await client.connect();
    if (this.#options.setting) await client.query(this.#options.setting);
    const open = { client, connection: new PostgresConnection(client), usedAt: performance.now() };
    this.#open.add(open);
    this.#checking ??= setInterval(() => this.#check(), CHECK_MS).unref();
    return open;
  }

  #check(): void {
    for (const open of this.#open) {
      open.connection.checkSilence(this.#options.silenceMs);
      if (open.connection.load > 0 || performance.now() - open.usedAt < IDLE_MS) continue;
      this.#open.delete(open);
      void open.client.end().catch(() => {});
    }
  }
}
