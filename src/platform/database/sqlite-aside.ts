import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { Thread } from '../runtime/thread.ts';

export interface AsideQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** What a thread is started with. */
export interface AsidePlace {
  readonly file: string;
  /** What one query may cost, in milliseconds of the thread's processor: others wait for it. */
  readonly budgetMs: number;
}

/** A connection that reads in threads of its own, one query after the other in each. */
export class Aside implements DatabaseConnection {
  readonly #threads: readonly AsideThread[];

  constructor(place: AsidePlace, threads: number) {
    this.#threads = Array.from({ length: threads }, () => new AsideThread(place));
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

class AsideThread {
  readonly #thread: Thread<AsideQuery>;
  #waiting = 0;

  constructor(place: AsidePlace) {
    this.#thread = new Thread(new URL('./sqlite-aside-worker.ts', import.meta.url), { workerData: place });
  }

  get waiting(): number {
    return this.#waiting;
  }

  async ask(query: AsideQuery): Promise<unknown> {
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
