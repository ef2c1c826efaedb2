import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Environment, HostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { Scope } from '../database/database.ts';
import { cookiesOf } from './browser.ts';
import { type Exchange, hasBody, type Tenant, type Tenants } from './exchange.ts';
import type { Freshness } from './freshness.ts';
import { addressBuckets, takeForAddress } from './rate-limit-buckets.ts';
import { Repeats, type Sender } from './repeats.ts';
import { sendBatched } from './response-batching.ts';
import { acceptsGzip } from './response-cache.ts';
import { ownHeader } from './targeting.ts';

/** One coding of a page, ready to send. A body of bytes as a string is written together with its head. */
interface Sent {
  readonly headers: readonly string[];
  readonly body: Buffer | string;
}

/** A page as every visitor without a session gets it, until a scope of its reads changes. */
interface CachedPage {
  readonly route: string;
  readonly plain: Sent;
  /** Made in the background if the first visitor did not accept it. */
  gzip: Sent | undefined;
  readonly bytes: number;
  readonly scopes: readonly Scope[];
  /** When its scopes were last found unchanged. */
  asOf: number;
  readonly until: number;
}

export interface NewPage {
  readonly route: string;
  readonly headers: readonly string[];
  readonly plain: Buffer;
  readonly gzip: Buffer | undefined;
}

/** A request for a cached page; its key is read from its headers once. */
interface RepeatablePage extends Sender {
  readonly tenant: Tenant;
  readonly scope: HostScope;
  readonly operation: undefined;
  readonly key: string;
  readonly gzip: boolean;
  readonly route: string;
}

export interface PageCache {
  /** Answers a request whose target and headers equal an earlier one’s; undefined when nothing was sent. */
  answerRepeat(request: IncomingMessage, response: ServerResponse, id: string): RepeatablePage | undefined;
  /** The route of the page that was sent, if there was one. */
  answer(exchange: Exchange): string | undefined;
  /** Keeps a page if every one of its reads can be cached. */
  store(exchange: Exchange, page: NewPage, reads: readonly (Freshness | undefined)[]): void;
  /**
   * Renders a page once for all who ask for it at the same time: the others get it from the cache. Resolves to its route.
   * `share` lets them go on before the rendering ends: an event stream has no end.
   */
  renderOnce(exchange: Exchange, render: (share: () => void) => Promise<string>): Promise<string>;
}

/** Pages write dates as “5 minutes ago”. */
const SECONDS_MAX = 60;
const NO_SCOPES: readonly Scope[] = [];
const PAGE_BYTES_MAX = 1024 * 1024;
/** Longer ones are sent as bytes, because copying them costs more than a second write. */
const TEXT_BYTES_MAX = 16_384;
const COMPRESSED_BYTES_MIN = 1_024;
const compress = promisify(gzip);

export function createPageCache(settings: Settings, tenants: Tenants): PageCache {
  const bytesMax = (settings.cacheMegabytes * 1024 * 1024) / 4;
  if (bytesMax === 0)
    return {
      answerRepeat: () => undefined,
      answer: () => undefined,
      store: () => {},
      renderOnce: (_exchange, render) => render(() => {}),
    };
  const aCache = () =>
    new LRUCache<string, CachedPage>({
      maxSize: bytesMax,
      maxEntrySize: Math.min(bytesMax, PAGE_BYTES_MAX),
      sizeCalculation: ({ bytes }, key) => Math.ceil(bytes) + key.length * 2 + 1_024,
    });
  const caches: Record<Environment, LRUCache<string, CachedPage>> = { production: aCache(), sandbox: aCache() };
  const repeats = new Repeats<RepeatablePage>(settings);
  const renderings = new Map<string, Promise<void>>();

  /** Undefined for requests whose page depends on more than its address and language. */
  function keyOf({ request, secure, scope, path, search, language }: Exchange): string | undefined {
    if (request.method !== 'GET' || !secure || path.startsWith('/v1/') || hasBody(request)) return undefined;
    const { headers } = request;
    if (headers.cookie !== undefined && cookiesOf(request, scope.environment).session !== undefined) return undefined;
    const platform = ownHeader(headers, settings.headerPrefixes, 'platform') ?? '';
    const portal = ownHeader(headers, settings.headerPrefixes, 'portal') ?? '';
    return `${headers.host}${path}?${search}\n${language}\n${platform}\n${portal}`;
  }

  /** A page has dozens of scopes, which are looked at only after something has changed. */
  function isFresh(page: CachedPage, { clock, db: { changes } }: Tenant['app']): boolean {
    if (clock.now() >= page.until) return false;
    const now = changes.now();
    const scopes = page.asOf === now ? NO_SCOPES : page.scopes;
    for (const scope of scopes) if (!changes.unchangedSince(page.asOf, scope)) return false;
    page.asOf = now;
    return changes.areTrusted();
  }

  function freshPage(key: string, { app }: Tenant, { environment }: HostScope): CachedPage | undefined {
    const page = caches[environment].get(key);
    if (!page || isFresh(page, app)) return page;
    caches[environment].delete(key);
    return undefined;
  }

  /** The page, if it is fresh and the address may get it at once. */
  function pageFor(key: string, tenant: Tenant, scope: HostScope, ip: string): CachedPage | undefined {
    const page = freshPage(key, tenant, scope);
    if (!page || !tenant.gate.look(ip)) return undefined;
    const isTaken =
      settings.rateLimits === 'off' ||
      tenant.limiter?.tryTake(addressBuckets(settings.rateLimits, ip, false)) !== false;
    return isTaken ? page : undefined;
  }

  function answer(exchange: Exchange): string | undefined {
    const { tenant, scope, ip, request, response } = exchange;
    const key = caches[scope.environment].size === 0 ? undefined : keyOf(exchange);
    const page = key === undefined ? undefined : pageFor(key, tenant, scope, ip);
    if (!page) return undefined;
    const packed = acceptsGzip(request.headers['accept-encoding']);
    const forwarded = repeats.isForwarded(request);
    repeats.remember(request, {
      tenant,
      scope,
      ip,
      forwarded,
      operation: undefined,
      key: key!,
      gzip: packed,
      route: page.route,
    });
    send(response, (packed && page.gzip) || page.plain, exchange.headers);
    return page.route;
  }

  /** Sends the page to an address that had no token of the rate limits at hand. */
  async function sendTo(exchange: Exchange, page: CachedPage): Promise<string> {
    const taking = takeForAddress(settings.rateLimits, exchange, false);
    if (taking) await taking;
    const packed = acceptsGzip(exchange.request.headers['accept-encoding']);
    send(exchange.response, (packed && page.gzip) || page.plain, exchange.headers);
    return page.route;
  }

  return {
    answer,
    answerRepeat(request, response, id) {
      const repeat = repeats.find(request);
      if (!repeat) return undefined;
      const page = pageFor(repeat.key, repeat.tenant, repeat.scope, repeats.addressOf(request, repeat));
      if (!page) return undefined;
      send(response, (repeat.gzip && page.gzip) || page.plain, ['x-request-id', id]);
      return repeat;
    },
    async renderOnce(exchange, render) {
      const key = keyOf(exchange);
      if (key === undefined) return render(() => {});
      const first = renderings.get(key);
      if (first) await first;
      const page = freshPage(key, exchange.tenant, exchange.scope);
      if (page) return sendTo(exchange, page);
      // A page that cannot be cached is rendered for each of them.
      if (first) return render(() => {});
      const rendering = Promise.withResolvers<void>();
      renderings.set(key, rendering.promise);
      const share = () => {
        if (renderings.get(key) === rendering.promise) renderings.delete(key);
        rendering.resolve();
      };
      return render(share).finally(share);
    },
    store(exchange, { route, headers, plain, gzip: packed }, reads) {
      const key = keyOf(exchange);
      const known = reads.filter((read) => read !== undefined);
      if (key === undefined || known.length === 0 || known.length < reads.length) return;
      const { clock, db } = tenants[exchange.scope.environment].app;
      // Some reads are older than a change that others have seen; now all of them are true, or the page is stale already.
      const asOf = db.changes.now();
      if (!known.every((read) => read.scopes.every((scope) => db.changes.unchangedSince(read.asOf, scope)))) return;
      const packedOf = (body: Buffer) => sentOf([...headers, 'content-encoding', 'gzip'], body);
      const page: CachedPage = {
        route,
        plain: sentOf(headers, plain),
        gzip: packed && packedOf(packed),
        // A packed copy that is made later has a fraction of the size.
        bytes: plain.length + (packed?.length ?? plain.length / 4),
        scopes: [...new Set(known.flatMap(({ scopes }) => scopes))],
        asOf,
        until: Math.min(clock.now() + SECONDS_MAX, ...known.map(({ until }) => until)),
      };
      caches[exchange.scope.environment].set(key, page);
      if (packed || plain.length < COMPRESSED_BYTES_MIN) return;
      compress(plain).then(
        (body) => {
          page.gzip = packedOf(body);
        },
        // The plain page serves as well.
        () => {},
      );
    },
  };
}

const sentOf = (headers: readonly string[], body: Buffer): Sent => ({
  headers: [...headers, 'content-length', String(body.length)],
  body: body.length > TEXT_BYTES_MAX ? body : body.toString('latin1'),
});

function send(response: ServerResponse, { headers, body }: Sent, more: readonly string[]): void {
  response.writeHead(200, [...headers, ...more]);
  sendBatched(response, body, 'latin1');
}
