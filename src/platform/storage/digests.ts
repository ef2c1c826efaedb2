import { Thread } from '../runtime/thread.ts';

/** What the thread is asked: to hash a file, or to go on with a hash of bytes that come piece by piece, or to end it. */
export type DigestRequest =
  | { readonly path: string }
  | { readonly hash: number; readonly bytes: Uint8Array }
  | { readonly hash: number; readonly end: true };

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

/** The one thread that hashes. */
const digests = new Thread<DigestRequest>(new URL('./digest-worker.ts', import.meta.url));
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
