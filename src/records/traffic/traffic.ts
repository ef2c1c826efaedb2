import type { App } from '../../platform/app.ts';
import type { SlowRequest, TrafficObserver } from '../../platform/telemetry/traffic.ts';
import * as store from './store.ts';
import type { LimitRule } from './table.ts';

export type { LimitedRow, SlowRow } from './store.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const KEPT_SECONDS = 7 * DAY;
const GATHER_MS = 5_000;
/** A flood from many addresses must not fill the table. */
const COUNTED_PER_HOUR = 1_000;
/** While the service is overloaded most requests are slow, and the first ones tell enough. */
const SLOW_AT_ONCE = 100;

const RULES: Readonly<Record<string, LimitRule>> = {
  a: 'address',
  aw: 'address_writes',
  u: 'user',
  uw: 'user_writes',
  k: 'user_key',
  s: 'service',
  t: 'server_token',
  o: 'operation',
};

type Named = Pick<store.LimitedRow, 'rule' | 'operation' | 'caller' | 'user_id'>;

/** What the name of a bucket says, as `rate-limit-buckets.ts` writes it. */
function namedBy(bucket: string): Named | undefined {
  const [kind = '', ...rest] = bucket.split('/');
  const rule = RULES[kind];
  if (!rule) return undefined;
  const operation = rule === 'operation' ? (rest.shift() ?? '') : '';
  const caller = rest.join('/');
  const [, user] = (rule === 'operation' ? /^u(\d+)$/ : /^(\d+)$/).exec(caller) ?? [];
  const isOfUser = user !== undefined && (rule === 'operation' || rule === 'user' || rule === 'user_writes');
  return { rule, operation, caller: isOfUser ? '' : caller, user_id: isOfUser ? Number(user) : 0 };
}

/** What happened since the last write, so that requests do not wait for it. */
class Gathered {
  readonly #app: App;
  readonly #limited = new Map<string, store.LimitedRow>();
  /** The buckets that have a row of their own in this hour. */
  readonly #counted = new Set<string>();
  #hour = 0;
  #slow: Omit<store.SlowRow, 'id'>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  addLimited(bucket: string): void {
    const named = namedBy(bucket);
    if (!named) return;
    const now = this.#app.clock.now();
    const hour = now - (now % HOUR);
    if (hour !== this.#hour) this.#counted.clear();
    this.#hour = hour;
    const isShown = this.#counted.has(bucket) || this.#counted.size < COUNTED_PER_HOUR;
    if (isShown) this.#counted.add(bucket);
    const shown = isShown ? named : { ...named, caller: '', user_id: 0 };
    const key = `${hour} ${JSON.stringify(shown)}`;
    const row = this.#limited.get(key) ?? { hour, ...shown, refused: 0, date_last: now };
    this.#limited.set(key, { ...row, refused: row.refused + 1, date_last: now });
    this.#writeSoon();
  }

  addSlow({ milliseconds, ...request }: SlowRequest): void {
    if (this.#slow.length >= SLOW_AT_ONCE) return;
    this.#slow.push({ ...request, milliseconds: Math.round(milliseconds), date_added: this.#app.clock.now() });
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  /** Settles when all of it is written, or could not be. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // In one order, so that two processes that count the same limits cannot deadlock.
    const limited = [...this.#limited].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    const slow = this.#slow;
    this.#limited.clear();
    this.#slow = [];
    this.#writing = this.#writing.then(() => this.#store(limited, slow));
    return this.#writing;
  }

  async #store(limited: readonly store.LimitedRow[], slow: readonly Omit<store.SlowRow, 'id'>[]): Promise<void> {
    if (limited.length === 0 && slow.length === 0) return;
    try {
      await this.#app.db.write(async (transaction) => {
        for (const row of limited) await store.count(transaction, row);
        if (slow.length > 0) await store.addSlow(transaction.query, slow);
      });
    } catch (error) {
      this.#app.log.warn('refused and slow requests could not be recorded', { error });
    }
  }
}

const gatherings = new WeakMap<App, Gathered>();

function gatheredOf(app: App): Gathered {
  const known = gatherings.get(app) ?? new Gathered(app);
  gatherings.set(app, known);
  return known;
}

export const recordTraffic: TrafficObserver = {
  onSlow: (app, request) => gatheredOf(app).addSlow(request),
  onLimited: (app, bucket) => gatheredOf(app).addLimited(bucket),
};

/** Settles when everything that was observed is stored. */
export const flushTraffic = (app: App): Promise<void> => gatheredOf(app).write();

type Page = { readonly limit: number; readonly offset: number };

/** The limits that refused requests in the last days, the newest hour first. */
export const listLimited = (app: App, page: Page) => store.limited(app.db.query, app.clock.now() - KEPT_SECONDS, page);

export const listSlow = (app: App, slowestFirst: boolean, page: Page) => store.slow(app.db.query, slowestFirst, page);

export const forgetOldTraffic = (app: App): Promise<void> => store.forgetBefore(app.db, app.clock.now() - KEPT_SECONDS);
