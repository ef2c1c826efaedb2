import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credentials } from '../access/authenticate.ts';
import { type Caller, NOBODY, visibilityClass } from '../access/caller.ts';
import { ACCESS_SCOPE, accessScopeOf, sightScopeOf } from '../access/credentials.ts';
import type { Environment, HostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { Demand } from '../limits/limits.ts';
import { peerOf } from './address.ts';
import { COMMON_HEADERS } from './answer.ts';
import { addressDemands, callerDemands, operationDemands } from './demands.ts';
import { depart } from './departures.ts';
import { bearerOf, type Exchange, hasBody, languageFor, type Tenant, type Tenants } from './exchange.ts';
import type { AnyOperation } from './operation.ts';
import { parseForm } from './request/forms.ts';
import {
  acceptsGzip,
  type CachedResponse,
  compressedOf,
  createResponseCache,
  type ResponseCache,
} from './response-cache.ts';
import { ownHeader, platformOf, portalOf } from './targeting.ts';

/** The fast lane: an answer that is known, fresh, and for a caller that is known, costs no more than its bytes. */
export interface FastPath {
  /** What was recalled of an earlier request that was the same to the letter, if its answer has been sent. */
  answerRepeat(request: IncomingMessage, response: ServerResponse, id: string): RepeatableRequest | undefined;
  /** The operation whose kept answer has been sent, if one was kept. */
  answer(exchange: Exchange): AnyOperation | undefined;
  store(exchange: Exchange, operation: AnyOperation, text: string | Buffer, freshness: Freshness): void;
}

interface Freshness {
  readonly scopes: readonly string[];
  /** `Changes.now()` before anything was read for the answer. */
  readonly asOf: number;
  /** Unix seconds; the answer is outdated from then on. */
  readonly until: number;
}

/**
 * A request that was answered from what was kept. One that equals it in its target and in every header means the
 * same, so that nothing of it has to be read again; who may still ask, and how often, is looked at each time.
 */
interface RepeatableRequest {
  readonly tenant: Tenant;
  readonly scope: HostScope;
  readonly ip: string;
  /** The address came from a header, not from the connection. */
  readonly forwarded: boolean;
  readonly credentials: Credentials | undefined;
  readonly caller: Caller;
  readonly key: string;
  readonly operation: AnyOperation;
  readonly gzip: boolean;
  /** What such a request takes from the limits, when it comes from the same address. */
  readonly demands: readonly Demand[];
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
      if (!mayTake(repeat.tenant, demandsOfRepeat(settings, request, repeat))) return undefined;
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
      const demands = demandsOf(settings, answer.operation, caller, ip);
      if (!mayTake(tenant, demands)) return undefined;
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
        demands,
        operation: answer.operation,
      });
      sendCached(response, answer, exchange.headers, gzip);
      return answer.operation;
    },
    store(exchange, operation, text, { scopes, asOf, until }) {
      if (settings.cacheMegabytes === 0 || !isPlainRead(exchange)) return;
      const { rest } = takeApiKey(exchange.search);
      // A second key in any spelling would be overlooked by the lane, which takes the first.
      if (/api|%/.test(rest) && parseForm(rest)['api_key'] !== undefined) return;
      const caller = operation.declaration.access.kind === 'anyone' ? knownCallerOrNobody(exchange) : exchange.caller;
      const bytes = Buffer.byteLength(text);
      caches[exchange.scope.environment].set(keyOf(settings, exchange, rest, caller), {
        body: bytes > TEXT_BYTES_MAX ? Buffer.from(text as string) : String(text),
        bytes,
        headers: [...COMMON_HEADERS, 'content-length', String(bytes)],
        scopes: [...scopes, ...scopesOf(caller)],
        asOf,
        until,
        operation,
      });
    },
  };
}

/** A short text leaves in one write with its head; a long one is better kept as the bytes it leaves as. */
const TEXT_BYTES_MAX = 16_384;

function sendCached(response: ServerResponse, answer: CachedResponse, headers: readonly string[], gzip: boolean): void {
  const sent = (gzip && compressedOf(answer)) || answer;
  response.writeHead(200, [...sent.headers, ...headers]);
  if (typeof sent.body === 'string') depart(response, sent.body);
  else response.end(sent.body);
}

/** All that a plain read says, and how far its connection is to be believed. */
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

/** The caller, where that is known without waiting. */
function knownCaller({ request, tenant }: Exchange, apiKey: string | undefined): Caller | undefined {
  const bearer = bearerOf(request);
  return bearer || apiKey ? tenant.authenticator.recall({ bearer, apiKey }) : NOBODY;
}

const knownCallerOrNobody = (exchange: Exchange): Caller =>
  knownCaller(exchange, takeApiKey(exchange.search).apiKey) ?? NOBODY;

/** What tells one kept answer from another: all that an answer may depend on besides the data. */
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

/** What someone sees who may see more or less than others changes with their teams and mutes, and not only with the data. */
const scopesOf = (caller: Caller): readonly string[] =>
  caller.kind === 'user' && visibilityClass(caller).startsWith('u')
    ? [ACCESS_SCOPE, accessScopeOf(caller.userId), sightScopeOf(caller.userId)]
    : [];

const mayTake = ({ limiter }: Tenant, demands: readonly Demand[]) =>
  !limiter || demands.length === 0 || limiter.tryTake(demands);

function demandsOf({ rateLimits }: Settings, operation: AnyOperation, caller: Caller, ip: string): readonly Demand[] {
  if (rateLimits === 'off') return [];
  const counted = operation.declaration.access.kind === 'anyone' ? NOBODY : caller;
  return [
    ...addressDemands(rateLimits, ip, false),
    ...callerDemands(rateLimits, counted, false),
    ...operationDemands(rateLimits, operation.declaration, counted, ip),
  ];
}

const addressOfRepeat = (
  { trustProxy }: Settings,
  { socket }: IncomingMessage,
  { forwarded, ip }: RepeatableRequest,
): string => (forwarded ? ip : peerOf(socket, trustProxy).address);

function demandsOfRepeat(settings: Settings, request: IncomingMessage, repeat: RepeatableRequest): readonly Demand[] {
  const ip = addressOfRepeat(settings, request, repeat);
  return ip === repeat.ip ? repeat.demands : demandsOf(settings, repeat.operation, repeat.caller, ip);
}

/** Takes `api_key` out of a query without parsing the rest. */
function takeApiKey(search: string): { apiKey: string | undefined; rest: string } {
  const at = search.startsWith('api_key=') ? 0 : search.indexOf('&api_key=') + 1;
  if (at === 0 && !search.startsWith('api_key=')) return { apiKey: undefined, rest: search };
  const end = search.indexOf('&', at);
  const stop = end === -1 ? search.length : end;
  return { apiKey: search.slice(at + 8, stop), rest: search.slice(0, at) + search.slice(stop + 1) };
}
