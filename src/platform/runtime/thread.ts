import { parentPort, type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';

interface Answer {
  readonly id: number;
  readonly found?: unknown;
  readonly error?: Error;
  /** Of the error, what is lost on its way between threads. */
  readonly told?: object;
}

type Waiting = { resolve: (found: unknown) => void; reject: (error: Error) => void };

/** A thread that is asked and answers. It starts with the first question, and keeps the process alive only while at work. */
export class Thread<Question extends object> {
  readonly #file: URL;
  readonly #options: WorkerOptions;
  #worker: Worker | undefined;
  #lost = 0;
  readonly #waiting = new Map<number, Waiting>();
  #questions = 0;

  constructor(file: URL, options: WorkerOptions = {}) {
    this.#file = file;
    this.#options = options;
  }

  /** How many threads were lost so far: one that follows knows nothing of what the last one had begun. */
  get lost(): number {
    return this.#lost;
  }

  ask(question: Question): Promise<unknown> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#questions;
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, question });
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#forsake(new Error('the thread was closed'));
    await worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#file, this.#options);
    worker.on('message', ({ id, found, error, told }: Answer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      if (error) waiting?.reject(Object.assign(error, told));
      else waiting?.resolve(found);
    });
    worker.on('error', (error: Error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, new Error('the thread has ended')));
    return worker;
  }

  /** One that fails tells so twice, and by the second time another may be at work. */
  #lose(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#lost += 1;
    this.#forsake(error);
  }

  /** Whoever still waits is told; the next question goes to another thread. */
  #forsake(error: Error): void {
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

export interface Found {
  readonly found: unknown;
  /** Memory that becomes the asker's. */
  readonly transfer?: Transferable[];
}

/** Called in a thread: answers what it is asked, one thing beside the other. */
export function answerEach<Question>(answer: (question: Question) => Promise<Found>): void {
  parentPort!.on('message', async ({ id, question }: { id: number; question: Question }) => {
    try {
      const { found, transfer = [] } = await answer(question);
      parentPort!.postMessage({ id, found } satisfies Answer, transfer);
    } catch (error) {
      const { code, $metadata } = error as NodeJS.ErrnoException & { $metadata?: object };
      const told = { ...(code !== undefined && { code }), ...($metadata && { $metadata }) };
      parentPort!.postMessage({ id, error: error as Error, told } satisfies Answer);
    }
  });
}
