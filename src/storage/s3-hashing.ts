import { createHash } from 'node:crypto';
import { get as getInClear, type IncomingMessage } from 'node:http';
import { get as getEncrypted } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { giveBack } from '../memory.ts';
import { giveWay } from './background.ts';

export interface S3HashRequest {
  /** Leads to the object: to load the SDK in another thread would take 60 MB. */
  readonly link: string;
  /** Of the parts, which follow each other. */
  readonly lengths: readonly number[];
}

/** The hashes of the whole, and of each part what was found of it. */
export type S3HashAnswer =
  | { readonly md5: string; readonly sha256: string; readonly parts: string[] }
  | { readonly name: string; readonly message: string; readonly $metadata: { readonly httpStatusCode?: number } };

const ATTEMPTS_MAX = 4;
const FIRST_WAIT_MS = 200;
const SILENCE_MS = 30_000;

class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`the bucket answers ${status}`);
    this.status = status;
  }
}

/** One pass over the object, as it comes. */
async function hashed({ link, lengths }: S3HashRequest): Promise<S3HashAnswer> {
  const whole = { md5: createHash('md5'), sha256: createHash('sha256') };
  const parts: string[] = [];
  let part = createHash('sha256');
  let left = lengths[0] ?? 0;
  for await (const chunk of bytesAt(link)) {
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
    giveBack(chunk);
  }
  return { md5: whole.md5.digest('hex'), sha256: whole.sha256.digest('hex'), parts };
}

/** Where the line breaks, it goes on from there: twenty gigabytes are too many to begin again. */
async function* bytesAt(link: string): AsyncGenerator<Buffer> {
  let position = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const chunk of (await answerOf(link, position)) as AsyncIterable<Buffer>) {
        position += chunk.length;
        attempt = 1;
        yield chunk;
      }
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || isFinal(error)) throw error;
      await wait(FIRST_WAIT_MS * 2 ** attempt);
    }
  }
}

const isFinal = (error: unknown): boolean => error instanceof Refused && error.status < 500;

function answerOf(link: string, position: number): Promise<IncomingMessage> {
  const get = link.startsWith('https:') ? getEncrypted : getInClear;
  const headers = position > 0 ? { range: `bytes=${position}-` } : {};
  return new Promise((resolve, reject) => {
    const request = get(link, { headers, timeout: SILENCE_MS }, (response) => {
      if (response.statusCode === (position > 0 ? 206 : 200)) return resolve(response);
      response.resume();
      reject(new Refused(response.statusCode!));
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error('the bucket is silent')));
  });
}

giveWay();
try {
  parentPort!.postMessage(await hashed(workerData as S3HashRequest));
} catch (error) {
  const { name, message } = error as Error;
  const $metadata = error instanceof Refused ? { httpStatusCode: error.status } : {};
  parentPort!.postMessage({ name, message, $metadata } satisfies S3HashAnswer);
}
