import type { Database } from './database.ts';

/** A read of rows by their ids. */
export interface ManyReading<R> {
  /** Tells apart reads that cannot share a statement. */
  readonly variant: string;
  readonly rowsOf: (ids: readonly number[]) => Promise<ReadonlyMap<number, R>>;
}

interface Batch<R> {
  readonly ids: Set<number>;
  readonly rows: Promise<ReadonlyMap<number, R>>;
}

/** More rows would delay the first ones. */
const BATCH_MAX = 64;
/** A statement that takes longer, such as one on a dead connection, holds nobody up. */
const PATIENCE_MS = 10;

/** The reads of a variant. */
class Batches<R> {
  readonly #reading: ManyReading<R>;
  #open: Batch<R> | undefined;
  #sent: Promise<unknown> | undefined;

  constructor(reading: ManyReading<R>) {
    this.#reading = reading;
  }

  /** Whether there is nothing to wait for. */
  get isIdle(): boolean {
    return !this.#open && !this.#sent;
  }

  join(): Batch<R> {
    if (this.#open && this.#open.ids.size < BATCH_MAX) return this.#open;
    const ids = new Set<number>();
    const batch: Batch<R> = { ids, rows: this.#turn().then(() => this.#send(batch)) };
    this.#open = batch;
    return batch;
  }

  async #turn(): Promise<void> {
    await turnEnds();
    if (this.#sent) await settledOrLate(this.#sent);
  }

  async #send(batch: Batch<R>): Promise<ReadonlyMap<number, R>> {
    if (this.#open === batch) this.#open = undefined;
    const sent = this.#reading.rowsOf([...batch.ids]);
    this.#sent = sent;
    try {
      return await sent;
    } finally {
      if (this.#sent === sent) this.#sent = undefined;
    }
  }
}

/**
 * Reads single rows, all that are wanted until the statement before has returned by one statement: for a server in another
 * process a statement costs more than a row.
 */
export class BatchedReads<R> {
  readonly #variants = new WeakMap<Database, Map<string, Batches<R>>>();

  async read(db: Database, id: number, reading: ManyReading<R>): Promise<R | undefined> {
    const variants = this.#variants.get(db) ?? new Map<string, Batches<R>>();
    this.#variants.set(db, variants);
    const batches = variants.get(reading.variant) ?? new Batches<R>(reading);
    variants.set(reading.variant, batches);
    const batch = batches.join();
    batch.ids.add(id);
    try {
      return (await batch.rows).get(id);
    } finally {
      if (batches.isIdle) variants.delete(reading.variant);
    }
  }
}

const turnEnds = () => new Promise<void>((resolve) => setImmediate(resolve));

const settledOrLate = (sent: Promise<unknown>) =>
  new Promise<void>((resolve) => {
    const late = setTimeout(resolve, PATIENCE_MS);
    const settled = () => {
      clearTimeout(late);
      resolve();
    };
    sent.then(settled, settled);
  });
