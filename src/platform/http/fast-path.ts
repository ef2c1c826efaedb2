import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credentials } from '../access/authenticate.ts';
import { type Caller, modReachOf, NOBODY, visibilityClass } from '../access/caller.ts';
import { ACCESS_SCOPE, accessScopeOf, visibilityScopeOf } from '../access/credentials.ts';
import type { Environment, HostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { RateLimitBucket } from '../limits/limits.ts';
import { REVALIDATED_HEADERS, type ReadAnswer, sendNotModified } from './answer.ts';
import { deprecationHeaders } from './deprecation.ts';
import { isNotModified } from './entity-tag.ts';
import { bearerOf, type Exchange, hasBody, languageFor, type Tenant, type Tenants } from './exchange.ts';
import type { Freshness } from './freshness.ts';
import type { AnyOperation } from './operation.ts';
import { addressBuckets, callerBuckets, operationBuckets } from './rate-limit-buckets.ts';
import { Repeats, type Sender } from './repeats.ts';
import { parseForm } from './request/forms.ts';
import { sendBatched } from './response-batching.ts';
import {
  acceptsGzip,
  type CachedResponse,
  compressedOf,
  createResponseCache,
  type ResponseCache,
} from './response-cache.ts';
import { ownHeader, platformOf, portalOf } from './targeting.ts';

/**
 * Answers from the response cache when the caller is already known, without routing, authentication or database reads.
 */
export interface FastPath {
  /** Answers a request whose target and headers equal an earlier one's; undefined when nothing was sent. */
  answerRepeat(request: IncomingMessage, response: ServerResponse, id: string): RepeatableRequest | undefined;
  /** The operation whose cached response was sent, if there was one. */
  answer(exchange: Exchange): AnyOperation | undefined;
  /**
   * The cached response for a caller who had to be authenticated or counted first: nobody's first request within five
   * seconds has a token of the rate limits at hand.
   */
  recall(exchange: Exchange, operation: AnyOperation): CachedResponse | undefined;
  /** Sends a response that was recalled. */
  send(exchange: Exchange, recalled: CachedResponse): void;
  store(exchange: Exchange, operation: AnyOperation, answer: ReadAnswer, freshness: Freshness): void;
}

interface RepeatableRequest extends Sender {
  readonly tenant: Tenant;
  readonly scope: HostScope;
  readonly credentials: Credentials | undefined;
  readonly caller: Caller;
  readonly key: string;
  readonly operation: AnyOperation;
  readonly gzip: boolean;
  readonly ifNoneMatch: string | undefined;
  /** The rate-limit buckets of such a request from the same address. */
  readonly buckets: readonly RateLimitBucket[];
  /** From which address the caller was let in last. */
  admitted?: Admitted;
}

/** Holds until something changes, and until the second ends. */
interface Admitted {
  readonly ip: string;
  readonly asOf: number;
  readonly second: number;
}

export function createFastPath(settings: Settings, tenants: Tenants): FastPath {
  const caches: Record<Environment, ResponseCache> = {
    production: createResponseCache(tenants.production.app, settings.cacheMegabytes),
    sandbox: createResponseCache(tenants.sandbox.app, settings.cacheMegabytes),
  };
  const repeats = new Repeats<RepeatableRequest>(settings);

  /** The cached response to a caller who is still the same, from an address that is still let in. */
  function answerTo(repeat: RepeatableRequest, ip: string): CachedResponse | undefined {
    const { app, gate } = repeat.tenant;
    const asOf = app.db.changes.now();
    const second = app.clock.now();
    const last = repeat.admitted;
    // The cache looks at whether changes of other processes are heard.
    if (!last || last.asOf !== asOf || last.second !== second || last.ip !== ip) {
      if (!isStillCaller(repeat) || !gate.look(ip)) return undefined;
      repeat.admitted = { ip, asOf, second };
    }
    return caches[repeat.scope.environment].get(repeat.key, second);
  }

  /** Under which key the response to an admitted caller is cached, if it may be. */
  function cacheable(exchange: Exchange, operation: AnyOperation): { key: string; caller: Caller } | undefined {
    if (settings.cacheMegabytes === 0 || !isPlainRead(exchange)) return undefined;
    const { rest } = takeApiKey(exchange.search);
    // The fast path reads the first key only, so a query with a second one, however it is spelled, is not cached.
    if (/api|%/.test(rest) && parseForm(rest)['api_key'] !== undefined) return undefined;
    // What such a caller reaches changes with collections and prices, which the scopes do not name.
    if (modReachOf(exchange.caller)) return undefined;
    const caller = operation.declaration.access.kind === 'anyone' ? knownCallerOrNobody(exchange) : exchange.caller;
    return { key: keyOf(settings, exchange, rest, caller), caller };
  }

  return {
    answerRepeat(request, response, id) {
      const repeat = repeats.find(request);
      if (!repeat) return undefined;
      const ip = repeats.addressOf(request, repeat);
      const answer = answerTo(repeat, ip);
      if (!answer) return undefined;
      if (!mayTake(repeat.tenant, bucketsOfRepeat(settings, ip, repeat))) return undefined;
      const headers = ['x-request-id', id, ...deprecationHeaders(repeat.operation, repeat.tenant.app.addresses.api)];
      sendCached(response, answer, headers, repeat);
      return repeat;
    },
    answer(exchange) {
      const { response, scope, request, tenant, ip } = exchange;
      if (settings.cacheMegabytes === 0 || !isPlainRead(exchange) || !tenant.gate.look(ip)) return undefined;
      const { apiKey, rest } = takeApiKey(exchange.search);
      const caller = knownCaller(exchange, apiKey);
      if (!caller) return undefined;
      const key = keyOf(settings, exchange, rest, caller);
      const answer = caches[scope.environment].get(key);
      if (!answer) {
        exchange.isUncached = true;
        return undefined;
      }
      const buckets = bucketsOf(settings, answer.operation, exchange.visitor ? NOBODY : caller, ip);
      if (!mayTake(tenant, buckets)) return undefined;
      exchange.headers.push(...deprecationHeaders(answer.operation, tenant.app.addresses.api));
      if (exchange.visitor) {
        send(exchange, answer);
        return answer.operation;
      }
      const bearer = bearerOf(request);
      const credentials = bearer || apiKey ? { bearer, apiKey } : undefined;
      const forwarded = repeats.isForwarded(request);
      const gzip = acceptsGzip(request.headers['accept-encoding']);
      const ifNoneMatch = request.headers['if-none-match'];
      repeats.remember(request, {
        gzip,
        ifNoneMatch,
        tenant,
        scope,
        ip,
        forwarded,
        credentials,
        caller,
        key,
        buckets,
        operation: answer.operation,
      });
      sendCached(response, answer, exchange.headers, { gzip, ifNoneMatch });
      return answer.operation;
    },
    recall(exchange, operation) {
      if (exchange.isUncached) return undefined;
      const known = cacheable(exchange, operation);
      return known && caches[exchange.scope.environment].get(known.key);
    },
    send,
    store(exchange, operation, { text, bytes, entityTag }, { scopes, asOf, until }) {
      const known = cacheable(exchange, operation);
      if (!known) return;
      const freshness = { scopes: [...scopes, ...scopesOf(known.caller)], asOf, until };
      exchange.freshness = freshness;
      caches[exchange.scope.environment].set(known.key, {
        ...freshness,
        body: bytes > TEXT_BYTES_MAX ? Buffer.from(text as string) : String(text),
        bytes,
        entityTag,
        headers: [...REVALIDATED_HEADERS, 'content-length', String(bytes), 'etag', entityTag],
        operation,
      });
    },
  };
}

function send(exchange: Exchange, answer: CachedResponse): void {
  const { headers } = exchange.request;
  exchange.freshness = answer;
  const gzip = acceptsGzip(headers['accept-encoding']);
  sendCached(exchange.response, answer, exchange.headers, { gzip, ifNoneMatch: headers['if-none-match'] });
}

/** A short text is sent in one write with its head; a longer one is cached as bytes. */
const TEXT_BYTES_MAX = 16_384;

function sendCached(
  response: ServerResponse,
  answer: CachedResponse,
  headers: readonly string[],
  { gzip, ifNoneMatch }: Pick<RepeatableRequest, 'gzip' | 'ifNoneMatch'>,
): void {
  if (isNotModified(ifNoneMatch, answer.entityTag)) return void sendNotModified(response, answer.entityTag, headers);
  const sent = (gzip && compressedOf(answer)) || answer;
  response.writeHead(200, [...sent.headers, ...headers]);
  // Text without other characters than ASCII has the same bytes in both, and those of Latin-1 are copied, not converted.
  sendBatched(response, sent.body!, answer.body.length === answer.bytes ? 'latin1' : 'utf8');
}

const isStillCaller = ({ credentials, tenant, caller }: RepeatableRequest) =>
  credentials === undefined || tenant.authenticator.recall(credentials) === caller;

function isPlainRead({ request, secure }: Exchange): boolean {
  return request.method === 'GET' && secure && request.headers.origin === undefined && !hasBody(request);
}

/** The caller, if the authenticator knows it without a database read. */
function knownCaller({ request, tenant, visitor }: Exchange, apiKey: string | undefined): Caller | undefined {
  if (visitor) return visitor;
  const bearer = bearerOf(request);
  return bearer || apiKey ? tenant.authenticator.recall({ bearer, apiKey }) : NOBODY;
}

const knownCallerOrNobody = (exchange: Exchange): Caller =>
  knownCaller(exchange, takeApiKey(exchange.search).apiKey) ?? NOBODY;

/** The cache key: everything besides the data that a response may depend on. */
function keyOf({ headerPrefixes }: Settings, exchange: Exchange, rest: string, caller: Caller): string {
  const { request, path, scope } = exchange;
  const { headers } = request;
  const platform = platformOf(ownHeader(headers, headerPrefixes, 'platform')) ?? '';
  const portal = portalOf(ownHeader(headers, headerPrefixes, 'portal')) ?? '';
  const reads = caller.kind === 'user' && !caller.scopes.includes('read') ? '-' : '';
  const who = `${caller.kind}${reads} ${visibilityClass(caller)}`;
  const language = languageFor(request, caller);
  return `${path}?${rest}\n${language}\n${platform}\n${portal}\n${who}\n${scope.gameId ?? ''}\n${headers.accept ?? ''}`;
}

/** What such a user sees also changes with their teams and mutes, not only with the data. */
const scopesOf = (caller: Caller): readonly string[] =>
  caller.kind === 'user' && visibilityClass(caller).startsWith('u')
    ? [ACCESS_SCOPE, accessScopeOf(caller.userId), visibilityScopeOf(caller.userId)]
    : [];

const mayTake = ({ limiter }: Tenant, buckets: readonly RateLimitBucket[]) =>
  !limiter || buckets.length === 0 || limiter.tryTake(buckets);

function bucketsOf(
  { rateLimits }: Settings,
  operation: AnyOperation,
  caller: Caller,
  ip: string,
): readonly RateLimitBucket[] {
  if (rateLimits === 'off') return [];
  const counted = operation.declaration.access.kind === 'anyone' ? NOBODY : caller;
  return [
    ...addressBuckets(rateLimits, ip, false),
    ...callerBuckets(rateLimits, counted, false),
    ...operationBuckets(rateLimits, operation.declaration, counted, ip),
  ];
}

const bucketsOfRepeat = (settings: Settings, ip: string, repeat: RepeatableRequest): readonly RateLimitBucket[] =>
  ip === repeat.ip ? repeat.buckets : bucketsOf(settings, repeat.operation, repeat.caller, ip);

/** Removes `api_key` from a query without parsing the rest. */
function takeApiKey(search: string): { apiKey: string | undefined; rest: string } {
  const at = search.startsWith('api_key=') ? 0 : search.indexOf('&api_key=') + 1;
  if (at === 0 && !search.startsWith('api_key=')) return { apiKey: undefined, rest: search };
  const end = search.indexOf('&', at);
  const stop = end === -1 ? search.length : end;
  return { apiKey: search.slice(at + 8, stop), rest: search.slice(0, at) + search.slice(stop + 1) };
}
