import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { Thread } from '../thread.ts';

export interface AsideQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A connection that reads in a thread of its own, one query after the other. */
export class Aside implements DatabaseConnection {
  readonly #thread: Thread<AsideQuery>;

  constructor(file: string) {
    this.#thread = new Thread(new URL('./sqlite-aside-worker.ts', import.meta.url), { workerData: file });
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: (await this.#thread.ask({ sql, parameters })) as R[] };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams rows
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed on SQLite: page through them');
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
