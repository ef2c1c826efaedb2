import { Thread } from '../runtime/thread.ts';

/** Requests to the thread: hash a file, continue a hash with the next chunk, or end it. */
export type DigestRequest =
  | { readonly path: string }
  | { readonly hash: number; readonly bytes: Uint8Array }
  | { readonly hash: number; readonly end: true };

export interface Hashes {
  readonly md5: string;
  readonly sha256: string;
}

/** Incremental hashes. The caller must end them in any case, because the thread keeps their state until then. */
export interface RunningHashes {
  /** Resolves when the bytes may be overwritten. They are in shared memory, so they are not copied. */
  add(bytes: Uint8Array): Promise<void>;
  end(): Promise<Hashes>;
}

/** The only hashing thread. */
const digests = new Thread<DigestRequest>(new URL('./digest-worker.ts', import.meta.url));
let hashes = 0;

/** The SHA-256 of a file on disk, in hexadecimal. */
export const digestOfFile = async (path: string): Promise<string> => (await digests.ask({ path })) as string;

/** Off the event loop: half a megabyte would block it for a millisecond. */
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
