import type pg from 'pg';
import type { Statement, Value } from './database.ts';
import { type Opened, openConnection, type SessionSettings } from './postgres-connecting.ts';
import type { ToExecute } from './postgres-connection.ts';
import type { ConnectionWatch } from './postgres-watch.ts';

/** An idle connection is closed after this long, as the driver's pools do. */
const IDLE_MS = 10_000;
const CHECK_MS = 1_000;

export interface PreparedReadsOptions {
  readonly config: pg.ClientConfig;
  readonly settings: SessionSettings;
  readonly watch: ConnectionWatch;
  readonly max: number;
}

interface Open extends Opened {
  usedAt: number;
}

export const toExecute = (read: Statement, values: readonly Value[], name: string): ToExecute => ({
  name,
  text: read.postgres,
  values,
  inBytes: read.inBytes === true,
});

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

  async rows<T>(read: Statement, values: readonly Value[], name: string): Promise<T[]> {
    const least = this.#leastLoaded();
    const isFree = least && (least.connection.load === 0 || this.#open.size >= this.#options.max);
    const open = isFree ? least : await this.#more(least);
    open.usedAt = performance.now();
    const { rows } = await open.connection.execute(toExecute(read, values, name));
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
    const { config, settings, watch } = this.#options;
    const open = { ...(await openConnection(config, settings, watch)), usedAt: performance.now() };
    this.#open.add(open);
    this.#checking ??= setInterval(() => this.#check(), CHECK_MS).unref();
    return open;
  }

  #check(): void {
    for (const open of this.#open) {
      if (open.connection.load > 0 || performance.now() - open.usedAt < IDLE_MS) continue;
      this.#open.delete(open);
      void open.client.end().catch(() => {});
    }
  }
}
