import { type Database, statement } from '../database/database.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { isLoopback, NetworkSet, networkOf } from './networks.ts';

/** Checks the address of every request against the bans, from memory. */
export interface Gate {
  /** True when the address is allowed; undefined while the bans are being reloaded. */
  look(address: string): boolean | undefined;
  /** Rejects a banned address. Waits only when `look` is undecided. */
  requireOpen(address: string): void | Promise<void>;
}

/** The scope of all bans. */
export const BANS_SCOPE = 'bans';

const ACTIVE = statement('select network, date_expires from address_bans where date_expires = 0 or date_expires > ?');
interface Row {
  readonly network: string;
  readonly date_expires: number;
}

/** The maximum number of cached results; beyond it the cache is cleared. */
const CACHED_MAX = 50_000;
/** After a failed reload the last list stays in force until the retry. */
const RETRY_MS = 1_000;

interface Known {
  readonly networks: NetworkSet | undefined;
  /** `Changes.now()` before they were read. */
  readonly asOf: number;
  /** The time at which the first ban expires. */
  readonly until: number;
  readonly answers: Map<string, boolean>;
}

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const NEVER = Number.POSITIVE_INFINITY;

export function createGate({ db, clock, log }: Parts): Gate {
  let known: Known | undefined;
  let reading: Promise<void> | undefined;
  let retryAt = 0;

  function learn(rows: readonly Row[], asOf: number): void {
    const networks = new NetworkSet();
    let until = NEVER;
    for (const { network, date_expires } of rows) {
      networks.add(networkOf(network)!);
      if (date_expires > 0) until = Math.min(until, date_expires);
    }
    known = { networks: rows.length > 0 ? networks : undefined, asOf, until, answers: new Map() };
  }

  function failed(error: unknown): void {
    log.warn('the banned addresses could not be read', { error });
    retryAt = clock.monotonicMs() + RETRY_MS;
    known ??= { networks: undefined, asOf: 0, until: NEVER, answers: new Map() };
  }

  /** Synchronous on SQLite. */
  function read(): void {
    if (reading) return;
    const asOf = db.changes.now();
    try {
      const rows = db.all<Row>(ACTIVE, [clock.now()]);
      if (Array.isArray(rows)) learn(rows, asOf);
      else
        reading = rows
          .then((each) => learn(each, asOf), failed)
          .finally(() => {
            reading = undefined;
          });
    } catch (error) {
      failed(error);
    }
  }

  /** Runs for every request, so it reads a clock only if necessary. */
  const isCurrent = (): boolean =>
    known !== undefined &&
    ((retryAt > 0 && clock.monotonicMs() < retryAt) ||
      (db.changes.unchangedSince(known.asOf, BANS_SCOPE) && (known.until === NEVER || clock.now() < known.until)));

  function answerFor(address: string, { networks, answers }: Known): boolean {
    if (!networks) return true;
    const before = answers.get(address);
    if (before !== undefined) return before;
    if (answers.size >= CACHED_MAX) answers.clear();
    // A local user can lift any ban anyway.
    const isOpen = isLoopback(address) || !networks.has(address);
    answers.set(address, isOpen);
    return isOpen;
  }

  const look = (address: string): boolean | undefined => {
    if (!isCurrent()) {
      read();
      if (!isCurrent()) return undefined;
    }
    return answerFor(address, known!);
  };

  async function wait(address: string): Promise<void> {
    await reading;
    // If bans change faster than they can be read, the last list applies.
    if (!answerFor(address, known!)) throw new ApiError('SERVICE_IP_BAN');
  }

  return {
    look,
    requireOpen(address) {
      const isOpen = look(address);
      if (isOpen === false) throw new ApiError('SERVICE_IP_BAN');
      return isOpen ? undefined : wait(address);
    },
  };
}
