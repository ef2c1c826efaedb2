import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credentials } from '../access/authenticate.ts';
import { type Caller, NOBODY, visibilityClass } from '../access/caller.ts';
import { ACCESS_SCOPE, accessScopeOf, visibilityScopeOf } from '../access/credentials.ts';
import type { Environment, HostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { RateLimitBucket } from '../limits/limits.ts';
import { peerOf } from './address.ts';
import { COMMON_HEADERS } from './answer.ts';
import { bearerOf, type Exchange, hasBody, languageFor, type Tenant, type Tenants } from './exchange.ts';
import type { Freshness } from './freshness.ts';
import type { AnyOperation } from './operation.ts';
import { addressBuckets, callerBuckets, operationBuckets } from './rate-limit-buckets.ts';
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
  store(exchange: Exchange, operation: AnyOperation, text: string | Buffer, freshness: Freshness): void;
}

/**
 * A request that was answered from the cache. Another one with the same target and headers means the same, so it is not
 * parsed again; its credentials and rate limits are still checked.
 */
interface RepeatableRequest {
  readonly tenant: Tenant;
  readonly scope: HostScope;
  readonly ip: string;
  /** The client address came from a header, not from the connection. */
  readonly forwarded: boolean;
  readonly credentials: Credentials | undefined;
  readonly caller: Caller;
  readonly key: string;
  readonly operation: AnyOperation;
  readonly gzip: boolean;
  /** The rate-limit buckets of such a request from the same address. */
  readonly buckets: readonly RateLimitBucket[];
}

const REPEATS_MAX = 10_000;
const REPEAT_CHARACTERS_MAX = 2_000;

export function createFastPath(settings: Settings, tenants: Tenants): FastPath {
  const caches: Record<Environment, ResponseCache> = {
    production: createResponseCache(tenants.production.app, settings.cacheMegabytes),
    sandbox: createResponseCache(tenants.sandbox.app, settings.cacheMegabytes),
  };
  const repeats = new Map<string, RepeatableRequest>();

  function remember(exchange: Exchange, repeat: RepeatableRequest): void {
    const fingerprint = fingerprintOf(settings, exchange.request);
    if (fingerprint.length > REPEAT_CHARACTERS_MAX) return;
    if (repeats.size >= REPEATS_MAX) repeats.delete(repeats.keys().next().value!);
    repeats.set(fingerprint, repeat);
  }

  return {
    answerRepeat(request, response, id) {
      if (repeats.size === 0 || request.method !== 'GET') return undefined;
      const repeat = repeats.get(fingerprintOf(settings, request));
      if (!repeat || !isStillCaller(repeat)) return undefined;
      if (!repeat.tenant.gate.look(addressOfRepeat(settings, request, repeat))) return undefined;
      const answer = caches[repeat.scope.environment].get(repeat.key);
      if (!answer) return undefined;
      if (!mayTake(repeat.tenant, bucketsOfRepeat(settings, request, repeat))) return undefined;
      sendCached(response, answer, ['x-request-id', id], repeat.gzip);
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
      if (!answer) return undefined;
      const buckets = bucketsOf(settings, answer.operation, exchange.visitor ? NOBODY : caller, ip);
      if (!mayTake(tenant, buckets)) return undefined;
      if (exchange.visitor) {
        exchange.freshness = answer;
        sendCached(response, answer, exchange.headers, false);
        return answer.operation;
      }
      const bearer = bearerOf(request);
      const credentials = bearer || apiKey ? { bearer, apiKey } : undefined;
      const isVouched = peerOf(request.socket, settings.trustProxy).trusted;
      const forwarded = isVouched && request.headers['x-forwarded-for'] !== undefined;
      const gzip = acceptsGzip(request.headers['accept-encoding']);
      remember(exchange, {
        gzip,
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
      sendCached(response, answer, exchange.headers, gzip);
      return answer.operation;
    },
    store(exchange, operation, text, { scopes, asOf, until }) {
      if (settings.cacheMegabytes === 0 || !isPlainRead(exchange)) return;
      const { rest } = takeApiKey(exchange.search);
      // The fast path reads the first key only, so a query with a second one, however it is spelled, is not cached.
      if (/api|%/.test(rest) && parseForm(rest)['api_key'] !== undefined) return;
      const caller = operation.declaration.access.kind === 'anyone' ? knownCallerOrNobody(exchange) : exchange.caller;
      const bytes = Buffer.byteLength(text);
      const freshness = { scopes: [...scopes, ...scopesOf(caller)], asOf, until };
      exchange.freshness = freshness;
      caches[exchange.scope.environment].set(keyOf(settings, exchange, rest, caller), {
        ...freshness,
        body: bytes > TEXT_BYTES_MAX ? Buffer.from(text as string) : String(text),
        bytes,
        headers: [...COMMON_HEADERS, 'content-length', String(bytes)],
        operation,
      });
    },
  };
}

/** A short text is sent in one write with its head; a longer one is cached as bytes. */
const TEXT_BYTES_MAX = 16_384;

function sendCached(response: ServerResponse, answer: CachedResponse, headers: readonly string[], gzip: boolean): void {
  const sent = (gzip && compressedOf(answer)) || answer;
  response.writeHead(200, [...sent.headers, ...headers]);
  if (typeof sent.body === 'string') sendBatched(response, sent.body);
  else response.end(sent.body);
}

/** The target, all headers, and how far the connection is trusted. */
function fingerprintOf({ trustProxy }: Settings, { url, rawHeaders, socket }: IncomingMessage): string {
  const peer = peerOf(socket, trustProxy);
  const standing = peer.encrypted ? 's' : peer.trusted ? 't' : 'p';
  return `${standing}${url}\n${rawHeaders.join('\n')}`;
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

const addressOfRepeat = (
  { trustProxy }: Settings,
  { socket }: IncomingMessage,
  { forwarded, ip }: RepeatableRequest,
): string => (forwarded ? ip : peerOf(socket, trustProxy).address);

function bucketsOfRepeat(
  settings: Settings,
  request: IncomingMessage,
  repeat: RepeatableRequest,
): readonly RateLimitBucket[] {
  const ip = addressOfRepeat(settings, request, repeat);
  return ip === repeat.ip ? repeat.buckets : bucketsOf(settings, repeat.operation, repeat.caller, ip);
}

/** Removes `api_key` from a query without parsing the rest. */
function takeApiKey(search: string): { apiKey: string | undefined; rest: string } {
  const at = search.startsWith('api_key=') ? 0 : search.indexOf('&api_key=') + 1;
  if (at === 0 && !search.startsWith('api_key=')) return { apiKey: undefined, rest: search };
  const end = search.indexOf('&', at);
  const stop = end === -1 ? search.length : end;
  return { apiKey: search.slice(at + 8, stop), rest: search.slice(0, at) + search.slice(stop + 1) };
}
