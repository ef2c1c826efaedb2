import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import type { Scope } from '../database/database.ts';
import type { AnyOperation } from './operation.ts';

/** An answer kept as it leaves, good as long as no scope it depends on has moved. */
export interface CachedResponse {
  readonly body: Buffer | string;
  readonly bytes: number;
  readonly headers: readonly string[];
  readonly scopes: readonly Scope[];
  /** `Changes.now()` before anything was read for it. */
  readonly asOf: number;
  /** Unix seconds; from then on it is outdated whatever has changed. */
  readonly until: number;
  readonly operation: AnyOperation;
  /** The same for clients that take it compressed, once the first of them has asked. */
  compressed?: CompressedResponse;
}

export interface CompressedResponse {
  body: Buffer | undefined;
  headers: readonly string[];
}

export interface ResponseCache {
  get(key: string): CachedResponse | undefined;
  set(key: string, answer: CachedResponse): void;
}

export function createResponseCache(
  { db: { changes }, clock }: Pick<App, 'db' | 'clock'>,
  megabytes: number,
): ResponseCache {
  if (megabytes === 0) return { get: () => undefined, set: () => {} };
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: megabytes * 1024 * 1024,
    maxEntrySize: 4 * 1024 * 1024,
    // With room for the compressed twin, which is a fraction of it.
    sizeCalculation: (answer, key) => Math.ceil(answer.bytes * 1.25) + key.length * 2 + 512,
  });
  const isFresh = ({ scopes, asOf, until }: CachedResponse) => {
    if (clock.now() >= until) return false;
    for (const scope of scopes) if (!changes.unchangedSince(asOf, scope)) return false;
    return true;
  };
  return {
    get(key) {
      const answer = responses.get(key);
      if (!answer) return undefined;
      if (isFresh(answer)) return answer;
      responses.delete(key);
      return undefined;
    },
    set: (key, answer) => void responses.set(key, answer),
  };
}

const COMPRESSED_BYTES_MIN = 1_024;
const compress = promisify(gzip);

/** The compressed answer, if there is one by now; otherwise it is made aside, while this client gets the plain one. */
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
    // The plain answer is as good.
    () => {},
  );
  return undefined;
}

/** Whether a client says that it takes gzip; saying so with a weight of 0 is saying that it does not. */
export const acceptsGzip = (accepted: string | undefined): boolean =>
  accepted !== undefined && /(^|[\s,])gzip\s*($|,|;(?!\s*q=0(\.0{0,3})?\s*($|,)))/i.test(accepted);
