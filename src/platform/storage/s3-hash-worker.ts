import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { freeBuffer } from '../runtime/memory.ts';
import { lowerThreadPriority } from './background.ts';
import { bytesOf, type Wanted } from './s3-download.ts';

export interface S3HashRequest extends Wanted {
  /** The lengths of the consecutive parts. */
  readonly lengths: readonly number[];
}

export interface S3Hashes {
  readonly md5: string;
  readonly sha256: string;
  /** A hash of each part. */
  readonly parts: string[];
}

export type S3HashAnswer = S3Hashes | { readonly name: string; readonly message: string; readonly $metadata: object };

/** Takes a tenth of a second of CPU time, for which a busy machine would let a thread of low priority wait many seconds. */
const SMALL_BYTES = 32 * 1024 ** 2;

/** Reads the object once, as a stream. */
async function hashed({ lengths, ...wanted }: S3HashRequest): Promise<S3Hashes> {
  const whole = { md5: createHash('md5'), sha256: createHash('sha256') };
  const parts: string[] = [];
  let part = createHash('sha256');
  let left = lengths[0] ?? 0;
  for await (const chunk of bytesOf(wanted)) {
    whole.md5.update(chunk);
    whole.sha256.update(chunk);
    for (let taken = 0; taken < chunk.byteLength; ) {
      const piece = chunk.subarray(taken, taken + left);
      part.update(piece);
      taken += piece.byteLength;
      left -= piece.byteLength;
      if (left > 0) continue;
      parts.push(part.digest('hex'));
      part = createHash('sha256');
      left = lengths[parts.length] ?? Number.POSITIVE_INFINITY;
    }
    freeBuffer(chunk);
  }
  return { md5: whole.md5.digest('hex'), sha256: whole.sha256.digest('hex'), parts };
}

const request = workerData as S3HashRequest;
if (request.lengths.reduce((sum, bytes) => sum + bytes, 0) > SMALL_BYTES) lowerThreadPriority();
try {
  parentPort!.postMessage(await hashed(request));
} catch (error) {
  const { name, message, $metadata = {} } = error as Error & { $metadata?: object };
  parentPort!.postMessage({ name, message, $metadata } satisfies S3HashAnswer);
}
