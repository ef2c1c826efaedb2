import { Worker } from 'node:worker_threads';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';

export interface AsideRequest {
  readonly id: number;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface AsideAnswer {
  readonly id: number;
  readonly rows?: unknown[];
  readonly error?: Error;
}

type Waiting = { resolve: (rows: unknown[]) => void; reject: (error: Error) => void };

/**
 * A connection that reads in a thread of its own, one query after the other. It starts with the first query, and keeps
 * the process alive only while it reads.
 */
export class Aside implements DatabaseConnection {
  readonly #file: string;
  #worker: Worker | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;

  constructor(file: string) {
    this.#file = file;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#requests;
    worker.ref();
    const rows = await new Promise<unknown[]>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, sql, parameters } satisfies AsideRequest);
    });
    return { rows: rows as R[] };
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams rows
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are not streamed on SQLite: page through them');
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./sqlite-aside-worker.ts', import.meta.url), { workerData: this.#file });
    worker.on('message', ({ id, rows, error }: AsideAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      if (rows) waiting?.resolve(rows);
      else waiting?.reject(error ?? new Error('no rows'));
    });
    worker.on('error', (error: Error) => this.#lose(error));
    worker.on('exit', () => this.#lose(new Error('the thread that reads aside has ended')));
    return worker;
  }

  #lose(error: Error): void {
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}
