import { parentPort, type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';

interface Reply {
  readonly id: number;
  readonly found?: unknown;
  readonly error?: Error;
  /** Properties of the error that structured cloning drops. */
  readonly details?: object;
}

type Waiting = { resolve: (found: unknown) => void; reject: (error: Error) => void };

/**
 * A worker thread that handles requests. It starts with the first one, and keeps the process alive only while requests
 * are pending.
 */
export class Thread<Request extends object> {
  readonly #file: URL;
  readonly #options: WorkerOptions;
  #worker: Worker | undefined;
  #lost = 0;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;

  constructor(file: URL, options: WorkerOptions = {}) {
    this.#file = file;
    this.#options = options;
  }

  /** The number of threads that were lost so far. A new thread has none of the state of the previous one. */
  get lost(): number {
    return this.#lost;
  }

  ask(request: Request): Promise<unknown> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#requests;
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, request });
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#rejectAll(new Error('the thread was closed'));
    await worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#file, this.#options);
    worker.on('message', ({ id, found, error, details }: Reply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      if (error) waiting?.reject(Object.assign(error, details));
      else waiting?.resolve(found);
    });
    worker.on('error', (error: Error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error('the thread has ended')));
    return worker;
  }

  /** A failing thread emits `error` and `exit`, and by the second event another thread may have started. */
  #lose(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#lost += 1;
    this.#rejectAll(error);
  }

  /** Rejects all pending requests; the next one starts a new thread. */
  #rejectAll(error: Error): void {
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

export interface WorkerReply {
  readonly found: unknown;
  /** Memory whose ownership moves to the other thread. */
  readonly transfer?: Transferable[];
}

/** Called in the worker thread: handles requests concurrently. */
export function handleRequests<Request>(handle: (request: Request) => Promise<WorkerReply>): void {
  parentPort!.on('message', async ({ id, request }: { id: number; request: Request }) => {
    try {
      const { found, transfer = [] } = await handle(request);
      parentPort!.postMessage({ id, found } satisfies Reply, transfer);
    } catch (error) {
      const { code, $metadata } = error as NodeJS.ErrnoException & { $metadata?: object };
      const details = { ...(code !== undefined && { code }), ...($metadata && { $metadata }) };
      parentPort!.postMessage({ id, error: error as Error, details } satisfies Reply);
    }
  });
}
