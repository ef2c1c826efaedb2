import { Worker } from 'node:worker_threads';

/** What the thread is asked: to hash a file, or to go on with a hash of bytes that come piece by piece, or to end it. */
export type DigestRequest =
  | { readonly id: number; readonly path: string }
  | { readonly id: number; readonly hash: number; readonly bytes: Uint8Array }
  | { readonly id: number; readonly hash: number; readonly end: true };

export interface DigestAnswer {
  readonly id: number;
  readonly found?: string | Hashes | undefined;
  readonly error?: Error;
}

export interface Hashes {
  readonly md5: string;
  readonly sha256: string;
}

/** Hashes of bytes that come piece by piece. It is ended in any case, as the thread keeps it until then. */
export interface RunningHashes {
  /** Settles once the bytes may change again. They are shared memory, and so are not copied. */
  add(bytes: Uint8Array): Promise<void>;
  end(): Promise<Hashes>;
}

type Waiting = { resolve: (found: DigestAnswer['found']) => void; reject: (error: Error) => void };
type Asked<T> = T extends DigestRequest ? Omit<T, 'id'> : never;

/** The one thread that hashes. It starts with the first bytes, and keeps the process alive only while it is at work. */
class Digests {
  #worker: Worker | undefined;
  #lost = 0;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;

  /** How many threads were lost so far: one that follows knows nothing of what the last one had begun. */
  get lost(): number {
    return this.#lost;
  }

  ask(asked: Asked<DigestRequest>): Promise<DigestAnswer['found']> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#requests;
    worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...asked } satisfies DigestRequest);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./digest-worker.ts', import.meta.url));
    worker.on('message', ({ id, found, error }: DigestAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
      if (error) waiting?.reject(error);
      else waiting?.resolve(found);
    });
    worker.on('error', (error: Error) => this.#lose(error));
    worker.on('exit', () => this.#lose(new Error('the thread that hashes has ended')));
    return worker;
  }

  #lose(error: Error): void {
    if (this.#worker) this.#lost += 1;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

const digests = new Digests();
let hashes = 0;

/** The SHA-256 of a file as it is on the disk, in hexadecimal. */
export const digestOfFile = async (path: string): Promise<string> => (await digests.ask({ path })) as string;

/** Away from the event loop: half a megabyte takes a millisecond in which nobody else would be answered. */
export function runningHashes(): RunningHashes {
  const hash = ++hashes;
  const { lost } = digests;
  const ask = async (asked: { bytes: Uint8Array } | { end: true }) => {
    if (digests.lost !== lost) throw new Error('the thread that had begun to hash this has ended');
    return digests.ask({ hash, ...asked });
  };
  return {
    add: async (bytes) => void (await ask({ bytes })),
    end: async () => (await ask({ end: true })) as Hashes,
  };
}
