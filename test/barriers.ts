import { sql } from 'kysely';
import type { App } from '../src/platform/app.ts';
import type { Database, Transaction } from '../src/platform/database/database.ts';
import type { ExtensionPoint } from '../src/platform/extensions.ts';
import { trafficObservers } from '../src/platform/telemetry/traffic.ts';

/** Where a write is paused: before its transaction begins, or after its work and before the commit. */
export type Point = 'before' | 'done';

export interface Stop {
  /** Resolves when the write has reached the point. */
  readonly reached: Promise<void>;
  /** Lets the write continue. */
  go(): void;
}

/** Called after the work, within the transaction. */
type When = (transaction: Transaction) => Promise<boolean>;

interface Gate extends Stop {
  readonly point: Point;
  readonly when: When | undefined;
  arrive(): void;
  readonly gone: Promise<void>;
}

function aGate(point: Point, when: When | undefined): Gate {
  const { promise: reached, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  return { point, when, reached, arrive, gone, go };
}

class Undone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super();
    this.result = result;
  }
}

/** Runs the work, returns its result, and rolls it back. */
async function undone<T>(commit: Database['write'], work: (transaction: Transaction) => Promise<T>): Promise<T> {
  try {
    return await commit(async (transaction) => {
      throw new Undone(await work(transaction));
    });
  } catch (error) {
    if (error instanceof Undone) return error.result as T;
    throw error;
  }
}

/** On a busy machine requests are slow, and the write that records them would be paused instead of one of a request. */
function ignoreSlowRequests({ extensions }: App): void {
  const { of } = extensions;
  const others = <T>(point: ExtensionPoint<T>) => ((point as unknown) === trafficObservers ? [] : of(point));
  Object.assign(extensions, { of: others });
}

/** Wraps the database of an app, in each of its processes, and pauses the writes that a test selects. */
export class Barrier {
  readonly #db: Database;
  readonly #gates: Gate[] = [];
  /** The number of writes so far. */
  asked = 0;
  /** While set, every write is rolled back; locks still make others wait. */
  undoes = false;

  constructor(...processes: readonly App[]) {
    this.#db = processes[0]!.db;
    for (const app of processes) {
      this.#wrap(app.db);
      ignoreSlowRequests(app);
    }
  }

  #wrap(db: Database): void {
    const commit = db.write.bind(db);
    const write: Database['write'] = (work) => (this.undoes ? undone(commit, work) : commit(work));
    const held: Database['write'] = async (work) => {
      this.asked += 1;
      const gate = this.#gates[0];
      if (gate && !gate.when) this.#gates.shift();
      if (gate?.point === 'before') {
        gate.arrive();
        await gate.gone;
      }
      if (gate?.point !== 'done') return write(work);
      let isFirst = true;
      return write(async (transaction) => {
        const result = await work(transaction);
        if (gate.when && (gate !== this.#gates[0] || !(await gate.when(transaction)))) return result;
        // A retry was paused before.
        if (isFirst) gate.arrive();
        isFirst = false;
        if (gate.when) this.#gates.shift();
        await gate.gone;
        return result;
      });
    };
    Object.assign(db, { write: held });
  }

  /** Pauses the next write, or the first one for which `when` is true. */
  next(point: Point, when?: When): Stop {
    const gate = aGate(point, when);
    this.#gates.push(gate);
    return gate;
  }

  /** Removes stops that no write has reached. */
  clear(): void {
    this.#gates.length = 0;
  }

  /** Sends a request and resolves when its write is paused, or with the response if it never writes. */
  async upTo<T>(
    point: Point,
    send: () => Promise<T>,
    when?: When,
  ): Promise<{ stop: Stop; answer: Promise<T>; isHeld: boolean }> {
    const stop = this.next(point, when);
    const answer = send();
    const isHeld = await Promise.race([stop.reached.then(() => true), answer.then(() => false)]);
    if (!isHeld) this.clear();
    return { stop, answer, isHeld };
  }

  /** Whether a request that started during a paused write has finished, or waits for a lock. Polls without sleeping. */
  async endsOrWaits(begin: () => Promise<unknown>): Promise<'ended' | 'waits'> {
    return (await this.eachEndsOrWaits([begin]))[0]!;
  }

  /** The same for several requests that start together. */
  async eachEndsOrWaits(begin: readonly (() => Promise<unknown>)[]): Promise<('ended' | 'waits')[]> {
    const before = this.asked;
    const isOver = begin.map(() => false);
    for (const [index, each] of begin.entries()) {
      const over = () => {
        isOver[index] = true;
      };
      each().then(over, over);
    }
    for (;;) {
      await new Promise((turn) => setImmediate(turn));
      const under = isOver.filter((each) => !each).length;
      const waiting = this.#db.dialect === 'sqlite' ? this.asked - before : await this.#waiting();
      if (waiting >= under) return isOver.map((each) => (each ? 'ended' : 'waits'));
    }
  }

  /** The number of transactions that wait for a lock. */
  async #waiting(): Promise<number> {
    const { rows } = await sql<{ waiting: number }>`select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(this.#db.query);
    return Number(rows[0]!.waiting);
  }
}
