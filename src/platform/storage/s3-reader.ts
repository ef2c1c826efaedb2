import { Worker } from 'node:worker_threads';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { freeBuffer } from '../runtime/memory.ts';
import { Thread } from '../runtime/thread.ts';
import { type Address, toStorageError, withStorageErrors } from './s3-client.ts';
import type { S3HashAnswer, S3Hashes, S3HashRequest } from './s3-hash-worker.ts';
import type { WantedRange } from './s3-reader-worker.ts';

/**
 * Reads objects in worker threads: Node.js allocates each received chunk, and a thread with a small heap collects that
 * garbage early and off the event loop.
 */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };
const reading = new Thread<WantedRange>(new URL('./s3-reader-worker.ts', import.meta.url), { resourceLimits: HEAP });

const READING_SECONDS = 600;
/** Sufficient for the largest object over the slowest usable connection. */
const HASHING_SECONDS = 12 * 3600;

const linkTo = (client: S3Client, address: Address, expiresIn: number): Promise<string> =>
  withStorageErrors(getSignedUrl(client, new GetObjectCommand(address), { expiresIn }));

/** Fills the buffer from this position with bytes of one version of an object. */
export async function readInto(
  client: S3Client,
  address: Address,
  etag: string,
  buffer: Uint8Array,
  start: number,
): Promise<void> {
  const link = await linkTo(client, address, READING_SECONDS);
  const end = start + buffer.byteLength - 1;
  const range = (await withStorageErrors(reading.ask({ link, start, end, etag }))) as Uint8Array;
  buffer.set(range);
  freeBuffer(range);
}

/**
 * The hashes of the whole object and of its parts, read from the bucket. Twenty gigabytes take a minute of CPU time.
 */
export async function hashesOf(
  client: S3Client,
  address: Address,
  lengths: readonly number[],
  etag?: string,
): Promise<S3Hashes> {
  const link = await linkTo(client, address, HASHING_SECONDS);
  const workerData: S3HashRequest = { link, start: 0, lengths, etag };
  const worker = new Worker(new URL('./s3-hash-worker.ts', import.meta.url), { workerData, resourceLimits: HEAP });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: S3HashAnswer) => {
      if ('md5' in answer) resolve(answer);
      else reject(toStorageError(Object.assign(new Error(answer.message), answer)));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`hashing ended with ${code}`)));
  });
}
