import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority, updateInPieces } from './background.ts';

export interface HashRequest {
  readonly path: string;
  /** The lengths of the consecutive parts. */
  readonly lengths: readonly number[];
}

/** The hashes of the whole file, and a hash of each part. */
export type HashAnswer =
  | { readonly md5: string; readonly sha256: string; readonly parts: string[] }
  | { readonly code: string | undefined; readonly message: string };

const BUFFER_BYTES = 1024 * 1024;

/** Reads the file once, with one buffer. */
function hashed({ path, lengths }: HashRequest): HashAnswer {
  const file = openSync(path, 'r');
  try {
    const whole = { md5: createHash('md5'), sha256: createHash('sha256') };
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    const parts = lengths.map((length) => {
      const part = createHash('sha256');
      for (let left = length; left > 0; ) {
        const bytes = readSync(file, buffer, 0, Math.min(left, BUFFER_BYTES), null);
        if (bytes === 0) break;
        updateInPieces([whole.md5, whole.sha256, part], buffer.subarray(0, bytes));
        left -= bytes;
      }
      return part.digest('hex');
    });
    return { md5: whole.md5.digest('hex'), sha256: whole.sha256.digest('hex'), parts };
  } finally {
    closeSync(file);
  }
}

function answer(): HashAnswer {
  try {
    return hashed(workerData as HashRequest);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { code, message };
  }
}

lowerThreadPriority();
parentPort!.postMessage(answer());
