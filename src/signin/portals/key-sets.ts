import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { LRUCache } from 'lru-cache';
import type { App } from '../../platform/app.ts';
import { type Egress, EgressError } from '../../platform/egress/egress.ts';
import { objectOf } from './platform-requests.ts';

const SETS_MAX = 1_000;
const KEPT_SECONDS_MAX = 86_400;
const KEPT_SECONDS = 3_600;
/** Forged tokens must not cause repeated requests to an issuer. */
const REFETCH_SECONDS = 10;

/** The keys could not be loaded. `misconfigured` means that a retry cannot help. */
export class KeySetError extends Error {
  readonly misconfigured: boolean;

  constructor(misconfigured: boolean, options?: ErrorOptions) {
    super('the key set could not be loaded', options);
    this.misconfigured = misconfigured;
  }
}

export interface KeySet {
  readonly keys: LocalJWKSet;
  readonly count: number;
  readonly dateFetched: number;
  readonly until: number;
}

/** The cache belongs to an environment. It stores promises, so that concurrent requests fetch a set once. */
const caches = new WeakMap<Egress, LRUCache<string, Promise<KeySet>>>();

function cacheOf(egress: Egress): LRUCache<string, Promise<KeySet>> {
  const sets = caches.get(egress) ?? new LRUCache<string, Promise<KeySet>>({ max: SETS_MAX });
  caches.set(egress, sets);
  return sets;
}

/** The cached keys of an issuer, or newly fetched ones. */
export async function keySetOf(app: App, url: string, algRequired: boolean): Promise<KeySet> {
  const set = await cacheOf(app.egress).get(nameOf(url, algRequired));
  return set && set.until > app.clock.now() ? set : fetched(app, url, algRequired);
}

/** Fetches the keys again if the cached ones do not match; undefined if they were fetched just now. */
export async function newerKeySet(
  app: App,
  url: string,
  algRequired: boolean,
  { dateFetched }: KeySet,
): Promise<KeySet | undefined> {
  const current = await cacheOf(app.egress).get(nameOf(url, algRequired));
  if (current && current.dateFetched > dateFetched) return current;
  return app.clock.now() < dateFetched + REFETCH_SECONDS ? undefined : fetched(app, url, algRequired);
}

const nameOf = (url: string, algRequired: boolean) => `${algRequired} ${url}`;

function fetched(app: App, url: string, algRequired: boolean): Promise<KeySet> {
  const sets = cacheOf(app.egress);
  const name = nameOf(url, algRequired);
  const set = fetchKeySet(app, url, algRequired);
  sets.set(name, set);
  set.catch(() => {
    if (sets.peek(name) === set) sets.delete(name);
  });
  return set;
}

/** Always asks the issuer. */
export async function fetchKeySet(app: App, url: string, algRequired: boolean): Promise<KeySet> {
  try {
    const { status, headers, body } = await app.egress.fetch(url, { headers: { accept: 'application/json' } });
    if (status !== 200) throw new KeySetError(status < 500);
    const { keys } = objectOf(JSON.parse(body.toString('utf8')));
    if (!Array.isArray(keys)) throw new KeySetError(true);
    const usable = keys.map(objectOf).filter((key) => !algRequired || typeof key['alg'] === 'string');
    const now = app.clock.now();
    return {
      count: usable.length,
      keys: createLocalJWKSet({ keys: usable } as unknown as JSONWebKeySet),
      dateFetched: now,
      until: now + secondsToKeep(headers['cache-control']),
    };
  } catch (cause) {
    if (cause instanceof KeySetError) throw cause;
    const lasting = cause instanceof EgressError && ['forbidden', 'invalid-url', 'redirects'].includes(cause.reason);
    throw new KeySetError(lasting || !(cause instanceof EgressError), { cause });
  }
}

function secondsToKeep(cacheControl = ''): number {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const [, seconds] = /\bmax-age="?(\d{1,9})/i.exec(cacheControl) ?? [];
  return seconds === undefined ? KEPT_SECONDS : Math.min(Number(seconds), KEPT_SECONDS_MAX);
}
