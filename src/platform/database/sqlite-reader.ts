import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { Thread } from '../runtime/thread.ts';
import type { SqliteFile } from './sqlite-opening.ts';

export interface ReaderQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The options of a reader thread. */
export interface ReaderOptions extends SqliteFile {
  /** CPU milliseconds that one query may use, since others wait for it. */
  readonly budgetMs: number;
}

/** A connection whose queries run in worker threads, one at a time in each. */
export class BackgroundReader implements DatabaseConnection {
  readonly #threads: readonly ReaderThread[];

  constructor(options: ReaderOptions, threads: number) {
    this.#threads = Array.from({ length: threads }, () => new ReaderThread(options));
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const idlest = this.#threads.reduce((one, other) => (other.waiting < one.waiting ? other : one));
    return { rows: (await idlest.ask({ sql, parameters })) as R[] };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams rows
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed on SQLite: page through them');
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class ReaderThread {
  readonly #thread: Thread<ReaderQuery>;
  #waiting = 0;

  constructor(options: ReaderOptions) {
    this.#thread = new Thread(new URL('./sqlite-reader-worker.ts', import.meta.url), { workerData: options });
  }

  get waiting(): number {
    return this.#waiting;
  }

  async ask(query: ReaderQuery): Promise<unknown> {
    this.#waiting += 1;
    try {
      return await this.#thread.ask(query);
    } finally {
      this.#waiting -= 1;
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
