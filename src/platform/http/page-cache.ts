import { LRUCache } from 'lru-cache';
import type { Environment } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { Scope } from '../database/database.ts';
import { cookiesOf } from './browser.ts';
import type { Exchange, Tenants } from './exchange.ts';
import type { Freshness } from './freshness.ts';
import { addressBuckets } from './rate-limit-buckets.ts';
import { acceptsGzip } from './response-cache.ts';
import { ownHeader } from './targeting.ts';

/** A page as every visitor without a session gets it, until a scope of its reads changes. */
interface CachedPage {
  readonly route: string;
  readonly headers: readonly string[];
  readonly plain: Buffer;
  readonly gzip: Buffer | undefined;
  readonly scopes: readonly Scope[];
  readonly asOf: number;
  readonly until: number;
}

export type NewPage = Pick<CachedPage, 'route' | 'headers' | 'plain' | 'gzip'>;

export interface PageCache {
  /** The route of the page that was sent, if there was one. */
  answer(exchange: Exchange): string | undefined;
  /** Keeps a page if every one of its reads can be cached. */
  store(exchange: Exchange, page: NewPage, reads: readonly (Freshness | undefined)[]): void;
}

/** Pages write dates as “5 minutes ago”. */
const SECONDS_MAX = 60;
const PAGE_BYTES_MAX = 1024 * 1024;

export function createPageCache(settings: Settings, tenants: Tenants): PageCache {
  const bytesMax = (settings.cacheMegabytes * 1024 * 1024) / 4;
  if (bytesMax === 0) return { answer: () => undefined, store: () => {} };
  const aCache = () =>
    new LRUCache<string, CachedPage>({
      maxSize: bytesMax,
      maxEntrySize: Math.min(bytesMax, PAGE_BYTES_MAX),
      sizeCalculation: ({ plain, gzip }, key) => plain.length + (gzip?.length ?? 0) + key.length * 2 + 1_024,
    });
  const caches: Record<Environment, LRUCache<string, CachedPage>> = { production: aCache(), sandbox: aCache() };

  /** Undefined for requests whose page depends on more than its address and language. */
  function keyOf({ request, secure, scope, path, search, language }: Exchange): string | undefined {
    if (request.method !== 'GET' || !secure || path.startsWith('/v1/')) return undefined;
    const { headers } = request;
    if (headers.cookie !== undefined && cookiesOf(request, scope.environment).session !== undefined) return undefined;
    const platform = ownHeader(headers, settings.headerPrefixes, 'platform') ?? '';
    const portal = ownHeader(headers, settings.headerPrefixes, 'portal') ?? '';
    return `${headers.host}${path}?${search}\n${language}\n${platform}\n${portal}`;
  }

  function isFresh({ scopes, asOf, until }: CachedPage, { tenant }: Exchange): boolean {
    const { clock, db } = tenant.app;
    if (clock.now() >= until) return false;
    for (const scope of scopes) if (!db.changes.unchangedSince(asOf, scope)) return false;
    return true;
  }

  return {
    answer(exchange) {
      const cache = caches[exchange.scope.environment];
      const key = cache.size === 0 ? undefined : keyOf(exchange);
      const page = key === undefined ? undefined : cache.get(key);
      if (!page) return undefined;
      const { tenant, ip, request, response } = exchange;
      if (!isFresh(page, exchange)) {
        cache.delete(key!);
        return undefined;
      }
      if (!tenant.gate.look(ip)) return undefined;
      if (
        settings.rateLimits !== 'off' &&
        tenant.limiter?.tryTake(addressBuckets(settings.rateLimits, ip, false)) === false
      )
        return undefined;
      const gzip = acceptsGzip(request.headers['accept-encoding']) ? page.gzip : undefined;
      const body = gzip ?? page.plain;
      response.writeHead(200, [
        ...page.headers,
        ...(gzip ? ['content-encoding', 'gzip'] : []),
        'content-length',
        String(body.length),
        ...exchange.headers,
      ]);
      response.end(body);
      return page.route;
    },
    store(exchange, page, reads) {
      const key = keyOf(exchange);
      const known = reads.filter((read) => read !== undefined);
      if (key === undefined || known.length === 0 || known.length < reads.length) return;
      const { clock } = tenants[exchange.scope.environment].app;
      caches[exchange.scope.environment].set(key, {
        ...page,
        scopes: [...new Set(known.flatMap(({ scopes }) => scopes))],
        asOf: Math.min(...known.map(({ asOf }) => asOf)),
        until: Math.min(clock.now() + SECONDS_MAX, ...known.map(({ until }) => until)),
      });
    },
  };
}
