import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import type { Scope } from '../database/database.ts';
import type { AnyOperation } from './operation.ts';

/** A response ready to send, fresh as long as none of its scopes has changed. */
export interface CachedResponse {
  readonly body: Buffer | string;
  readonly bytes: number;
  readonly entityTag: string;
  readonly headers: readonly string[];
  readonly scopes: readonly Scope[];
  /** `Changes.now()` before the first read for the response, or when its scopes were last found unchanged. */
  asOf: number;
  /** Unix seconds; from then on the response is stale. */
  readonly until: number;
  readonly operation: AnyOperation;
  /** The gzip version, made after the first client that accepts it. */
  compressed?: CompressedResponse;
}

export interface CompressedResponse {
  body: Buffer | undefined;
  headers: readonly string[];
}

export interface ResponseCache {
  /** The response, if it is fresh in this Unix second; the current one is the default. */
  get(key: string, second?: number): CachedResponse | undefined;
  set(key: string, answer: CachedResponse): void;
}

const NEVER = Number.POSITIVE_INFINITY;

export function createResponseCache(
  { db: { changes }, clock }: Pick<App, 'db' | 'clock'>,
  megabytes: number,
): ResponseCache {
  if (megabytes === 0) return { get: () => undefined, set: () => {} };
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: megabytes * 1024 * 1024,
    maxEntrySize: 4 * 1024 * 1024,
    // Includes the compressed copy, which is a fraction of the size.
    sizeCalculation: (answer, key) => Math.ceil(answer.bytes * 1.25) + key.length * 2 + 512,
  });
  const isFresh = (answer: CachedResponse, second?: number) => {
    if (answer.until !== NEVER && (second ?? clock.now()) >= answer.until) return false;
    const now = changes.now();
    if (answer.asOf === now) return changes.areTrusted();
    for (const scope of answer.scopes) if (!changes.unchangedSince(answer.asOf, scope)) return false;
    answer.asOf = now;
    return true;
  };
  return {
    get(key, second) {
      const answer = responses.get(key);
      if (!answer) return undefined;
      if (isFresh(answer, second)) return answer;
      responses.delete(key);
      return undefined;
    },
    set: (key, answer) => void responses.set(key, answer),
  };
}

const COMPRESSED_BYTES_MIN = 1_024;
const compress = promisify(gzip);

/**
 * The compressed response, if it exists. Otherwise compression starts in the background and this client gets the plain
 * response.
 */
export function compressedOf(answer: CachedResponse): CompressedResponse | undefined {
  if (answer.compressed) return answer.compressed.body && answer.compressed;
  if (answer.bytes < COMPRESSED_BYTES_MIN) return undefined;
  const compressed: CompressedResponse = { body: undefined, headers: [] };
  answer.compressed = compressed;
  compress(answer.body).then(
    (body) => {
      const length = answer.headers.indexOf('content-length');
      compressed.headers = [
        ...answer.headers.toSpliced(length, 2),
        'content-length',
        String(body.length),
        'content-encoding',
        'gzip',
      ];
      compressed.body = body;
    },
    // The plain response serves as well.
    () => {},
  );
  return undefined;
}

/** True when the client accepts gzip with a weight above 0. */
export const acceptsGzip = (accepted: string | undefined): boolean =>
  accepted !== undefined && /(^|[\s,])gzip\s*($|,|;(?!\s*q=0(\.0{0,3})?\s*($|,)))/i.test(accepted);
