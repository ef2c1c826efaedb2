import { Worker } from 'node:worker_threads';

export interface DigestRequest {
  readonly id: number;
  readonly path: string;
}

export interface DigestAnswer {
  readonly id: number;
  readonly sha256?: string;
  readonly error?: Error;
}

type Waiting = { resolve: (sha256: string) => void; reject: (error: Error) => void };

/** The one thread that reads files to hash them. It starts with the first file, and keeps the process alive only while it reads. */
class Digests {
  #worker: Worker | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;

  of(path: string): Promise<string> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#requests;
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, path } satisfies DigestRequest);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./digest-worker.ts', import.meta.url));
    worker.on('message', ({ id, sha256, error }: DigestAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      if (sha256 !== undefined) waiting?.resolve(sha256);
      else waiting?.reject(error ?? new Error('no digest'));
    });
    worker.on('error', (error: Error) => this.#lose(error));
    worker.on('exit', () => this.#lose(new Error('the thread that hashes files has ended')));
    return worker;
  }

  #lose(error: Error): void {
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

const digests = new Digests();

/** The SHA-256 of a file as it is on the disk, in hexadecimal. */
export const digestOfFile = (path: string): Promise<string> => digests.of(path);
