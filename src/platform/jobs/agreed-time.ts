import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { factOf, rememberFact } from '../database/facts.ts';
import type { Clock } from '../runtime/clock.ts';

const FACT = 'time.agreed';
/** How far clocks may be apart, in seconds. */
const TOLERANCE = 60;
/** A service that was stopped for longer has to show first that its clock is steady. */
const STOPPED_MAX = 3_600;
const STEADY_MS = 3_600_000;
/** After the agreed time has leapt, nothing is deleted that was not due before it. */
export const UNDO_SECONDS = 86_400;
const WRITTEN_EVERY = 60;

/** Unix seconds. */
interface Agreed {
  readonly at: number;
  /** When it last leapt, and from where. */
  readonly leapt: number;
  readonly from: number;
}

export interface AgreedTimeParts {
  readonly db: Database;
  readonly clock: Clock;
  /** The clock of the database's machine, in Unix seconds. */
  readonly databaseTime?: (() => Promise<number>) | undefined;
}

/**
 * The time of day, as far as clocks agree on it. A clock that jumps must not end or delete what is not due, so the time
 * counts only if it has advanced as far as the monotonic clock, agrees with the database, and continues what the
 * processes of the service last agreed on.
 */
export class AgreedTime {
  readonly #parts: AgreedTimeParts;
  #steadySince: { readonly wall: number; readonly ms: number } | undefined;
  #seen: { readonly at: number; readonly ms: number } | undefined;

  constructor(parts: AgreedTimeParts) {
    this.#parts = parts;
  }

  /** The time up to which rows may be deleted by their age; undefined while the clocks disagree. */
  async forDeletion(): Promise<number | undefined> {
    const { db, clock } = this.#parts;
    const isDatabaseClose = await this.#agreesWithDatabase();
    const wall = clock.now();
    const ms = clock.monotonicMs();
    const isSteady = this.#isSteady(wall, ms) && isDatabaseClose;
    if (!isSteady) this.#steadySince = { wall, ms };
    if (!isDatabaseClose) return undefined;
    const known = await read(db);
    const next = this.#next(known, wall, ms);
    if (!next) return undefined;
    if (!known || next.leapt !== known.leapt || next.at - known.at >= WRITTEN_EVERY) await remember(db, next);
    this.#seen = { at: next.at, ms };
    return next.at - next.leapt >= UNDO_SECONDS ? next.at : Math.min(next.from, next.at);
  }

  async #agreesWithDatabase(): Promise<boolean> {
    const { clock, databaseTime } = this.#parts;
    return !databaseTime || Math.abs((await databaseTime()) - clock.now()) <= TOLERANCE;
  }

  #isSteady(wall: number, ms: number): boolean {
    const since = this.#steadySince;
    return since !== undefined && Math.abs(wall - since.wall - (ms - since.ms) / 1000) <= TOLERANCE;
  }

  #next(known: Agreed | undefined, wall: number, ms: number): Agreed | undefined {
    if (!known) return { at: wall, leapt: 0, from: 0 };
    const expected = this.#seen
      ? Math.max(known.at, this.#seen.at + (ms - this.#seen.ms) / 1000) + TOLERANCE
      : known.at + STOPPED_MAX;
    if (wall >= known.at - TOLERANCE && wall <= expected) return { ...known, at: Math.max(wall, known.at) };
    if (ms - this.#steadySince!.ms < STEADY_MS) return undefined;
    const isRecent = known.at - known.leapt < UNDO_SECONDS;
    return { at: wall, leapt: wall, from: isRecent ? Math.min(known.from, known.at) : known.at };
  }
}

async function read(db: Database): Promise<Agreed | undefined> {
  const text = await factOf(db.query, FACT);
  return text === undefined ? undefined : (JSON.parse(text) as Agreed);
}

const remember = (db: Database, agreed: Agreed): Promise<void> =>
  db.write(({ query }) => rememberFact(query, FACT, JSON.stringify(agreed)));

export async function timeOfPostgres({ query }: Database): Promise<number> {
  const { rows } = await sql<{
    now: number;
  }>`select cast(extract(epoch from clock_timestamp()) as bigint) as now`.execute(query);
  return rows[0]!.now;
}

const known = new WeakMap<object, AgreedTime>();

/** One for each database that this process has opened, however many workers it has. */
export function agreedTimeOf(parts: AgreedTimeParts): AgreedTime {
  const found = known.get(parts.db.changes) ?? new AgreedTime(parts);
  known.set(parts.db.changes, found);
  return found;
}
