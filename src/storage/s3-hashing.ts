import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { S3Location } from './location.ts';
import { bytesOf, clientOf } from './s3-client.ts';

export interface S3HashRequest {
  readonly location: S3Location;
  readonly key: string;
  /** Of the parts, which follow each other. */
  readonly lengths: readonly number[];
}

/** The hashes of the whole, and of each part what was found of it. */
export type S3HashAnswer =
  | { readonly md5: string; readonly sha256: string; readonly parts: string[] }
  | { readonly name: string; readonly message: string; readonly $metadata?: object };

/** One pass over the object, as it comes. */
async function hashed({ location, key, lengths }: S3HashRequest): Promise<S3HashAnswer> {
  const whole = { md5: createHash('md5'), sha256: createHash('sha256') };
  const parts: string[] = [];
  let part = createHash('sha256');
  let left = lengths[0] ?? 0;
  for await (const chunk of bytesOf(clientOf(location), { Bucket: location.bucket, Key: key })) {
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
  }
  return { md5: whole.md5.digest('hex'), sha256: whole.sha256.digest('hex'), parts };
}

try {
  parentPort!.postMessage(await hashed(workerData as S3HashRequest));
} catch (error) {
  const { name, message, $metadata } = error as Error & { $metadata?: object };
  parentPort!.postMessage({ name, message, $metadata: $metadata ?? {} } satisfies S3HashAnswer);
}
