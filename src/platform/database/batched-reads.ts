import type { Database, Statement, Value } from './database.ts';

/** A read of rows by their ids. */
export interface ManyReading {
  /** Tells apart reads that cannot share a statement. */
  readonly variant: string;
  readonly statement: Statement;
  readonly valuesFor: (ids: readonly number[]) => readonly Value[];
}

interface Batch<R> {
  readonly ids: Set<number>;
  readonly rows: Promise<ReadonlyMap<number, R>>;
}

/** More rows would delay the first ones. */
const BATCH_MAX = 64;

/**
 * Reads single rows, all that are wanted in one turn of the event loop by one statement: for a server in another process
 * a statement costs more than a row.
 */
export class BatchedReads<R extends { readonly id: number }> {
  readonly #open = new WeakMap<Database, Map<string, Batch<R>>>();

  async read(db: Database, id: number, reading: ManyReading): Promise<R | undefined> {
    const batch = this.#batchOf(db, reading);
    batch.ids.add(id);
    return (await batch.rows).get(id);
  }

  #batchOf(db: Database, reading: ManyReading): Batch<R> {
    const open = this.#open.get(db) ?? new Map<string, Batch<R>>();
    this.#open.set(db, open);
    const known = open.get(reading.variant);
    if (known && known.ids.size < BATCH_MAX) return known;
    const ids = new Set<number>();
    const batch: Batch<R> = { ids, rows: turnEnds().then(() => rowsOf()) };
    const rowsOf = async () => {
      if (open.get(reading.variant) === batch) open.delete(reading.variant);
      const rows = await db.all<R>(reading.statement, reading.valuesFor([...ids]));
      return new Map(rows.map((row) => [row.id, row]));
    };
    open.set(reading.variant, batch);
    return batch;
  }
}

const turnEnds = () => new Promise<void>((resolve) => setImmediate(resolve));
