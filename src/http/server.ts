import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator, Credentials } from '../access/authenticate.ts';
import { type Caller, NOBODY, visibilityClass } from '../access/caller.ts';
import { type Environment, type HostScope, hostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { App } from '../context.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Limiter } from '../limits/limits.ts';
import { type Language, languageOf, negotiate } from '../localisation/languages.ts';
import { safeUrl } from '../log.ts';
import { clientAddress, isTrusted } from './address.ts';
import { COMMON_HEADERS, errorBody, send, sendNothing, toApiError } from './answer.ts';
import { createCors } from './cors.ts';
import { addressDemands, callerDemands, operationDemands, take } from './demands.ts';
import { type KeptAnswers, keepAnswers } from './kept.ts';
import { type AnyOperation, Created, type Input, Json } from './operation.ts';
import { hasBody, readPayload } from './payload.ts';
import { validate } from './request/coerce.ts';
import { type Fields, parseForm } from './request/forms.ts';
import { readList } from './request/list.ts';
import { createRouter } from './router.ts';
import { ownHeader, platformOf, portalOf } from './targeting.ts';

/** One environment as the server needs it. */
export interface Tenant {
  readonly app: App;
  readonly authenticator: Authenticator;
  readonly limiter: Limiter | undefined;
}

/** What is seen of every answer; tests hold it against the declarations. */
export interface Observation {
  readonly operation: AnyOperation | undefined;
  readonly status: number;
  readonly body: unknown;
  readonly error: ApiError | undefined;
}

export interface ServerParts {
  readonly settings: Settings;
  readonly tenants: Readonly<Record<Environment, Tenant>>;
  readonly operations: readonly AnyOperation[];
  /** Answers what is not the API: health, documentation, files. True when it did. */
  readonly elsewhere: (
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    scope: HostScope,
  ) => boolean | Promise<boolean>;
  readonly observe?: (observation: Observation) => void;
  readonly count: (operationId: string, status: number, seconds: number) => void;
}

const VERSION = /^\/v(\d+)(?=\/|$)/;
const EMPTY: Fields = Object.freeze(Object.create(null));
const NO_LIST = { groups: [], words: [], sort: undefined, limit: 100, offset: 0 };

/** One request on its way through the six hops. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  readonly started: number;
  readonly path: string;
  readonly search: string;
  readonly scope: HostScope;
  readonly tenant: Tenant;
  readonly ip: string;
  readonly headers: string[];
  language: Language;
  caller: Caller;
  operation: AnyOperation | undefined;
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Declarations and parts become one listener for requests. */
export function createServer(parts: ServerParts): Listener {
  const { settings, tenants } = parts;
  const router = createRouter(parts.operations);
  const cors = createCors(settings.corsOrigins);
  const limits = settings.rateLimits;
  const kept: Record<Environment, KeptAnswers> = {
    production: keepAnswers(tenants.production.app.db.changes, settings.cacheMegabytes),
    sandbox: keepAnswers(tenants.sandbox.app.db.changes, settings.cacheMegabytes),
  };
  const runId = tenants.production.app.random.hex(8);
  let requests = 0;

  return (request, response) => {
    const exchange = begin(request, response);
    if (answerKept(exchange)) return;
    respond(exchange).catch((error) => fail(exchange, error));
  };

  function begin(request: IncomingMessage, response: ServerResponse): Exchange {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const scope = hostScope(request.headers.host, settings.domain);
    return {
      request,
      response,
      id: `${runId}-${(++requests).toString(36)}`,
      started: performance.now(),
      path: mark === -1 ? url : url.slice(0, mark),
      search: mark === -1 ? '' : url.slice(mark + 1),
      scope,
      tenant: tenants[scope.environment],
      ip: clientAddress(request, settings.trustProxy),
      headers: [],
      language: negotiate(request.headers['accept-language']) ?? 'en',
      caller: NOBODY,
      operation: undefined,
    };
  }

  /** The fast lane: an answer that is known, fresh, and for a caller that is known, costs no more than its bytes. */
  function answerKept(exchange: Exchange): boolean {
    const { request, response, tenant } = exchange;
    if (request.method !== 'GET' || request.headers.origin !== undefined || !isSecure(request)) return false;
    const key = keyOf(exchange);
    if (!key) return false;
    const answer = kept[tenant.app.environment].fresh(key.text);
    if (!answer) return false;
    if (tenant.limiter && limits !== 'off') {
      const operation = { id: answer.operationId, limit: answer.operationLimit };
      const demands = [
        ...addressDemands(limits, exchange.ip, false),
        ...callerDemands(limits, key.caller, false),
        ...operationDemands(limits, operation, key.caller, exchange.ip),
      ];
      if (!tenant.limiter.tryTake(demands)) return false;
    }
    response.writeHead(200, [...answer.headers, 'x-request-id', exchange.id]);
    response.end(answer.bytes);
    finish(exchange, 200, answer.operationId);
    return true;
  }

  /** What tells one kept answer from another. Undefined where the caller is not yet known. */
  function keyOf({ request, path, search, tenant }: Exchange): { text: string; caller: Caller } | undefined {
    const { apiKey, rest } = takeApiKey(search);
    const bearer = bearerOf(request);
    const caller = bearer || apiKey ? tenant.authenticator.recall({ bearer, apiKey }) : NOBODY;
    if (!caller) return undefined;
    const { headers } = request;
    const language = headers['accept-language'] ?? (caller.kind === 'user' ? caller.language : '');
    const platform = ownHeader(headers, settings.headerPrefixes, 'platform') ?? '';
    const portal = ownHeader(headers, settings.headerPrefixes, 'portal') ?? '';
    const scopes = caller.kind === 'user' ? `u${caller.scopes.includes('read') ? '' : '-'}` : caller.kind;
    const text = `${path}?${rest}\n${language}\n${platform}\n${portal}\n${scopes}\n${visibilityClass(caller)}\n${headers.accept ?? ''}\n${headers.host ?? ''}`;
    return { text, caller };
  }

  async function respond(exchange: Exchange): Promise<void> {
    const { request, response, path } = exchange;
    if (!isSecure(request)) throw new ApiError('HTTPS_REQUIRED');
    exchange.headers.push('x-request-id', exchange.id);
    const version = VERSION.exec(path);
    if (!version) {
      if (await parts.elsewhere(request, response, path, exchange.scope))
        return finish(exchange, response.statusCode, 'elsewhere');
      throw new ApiError('RESOURCE_NOT_FOUND');
    }
    if (version[1] !== '1') throw new ApiError('API_VERSION_INVALID');
    if (await parts.elsewhere(request, response, path, exchange.scope))
      return finish(exchange, response.statusCode, 'elsewhere');
    await answerOperation(exchange, path.slice(version[0].length) || '/');
  }

  async function answerOperation(exchange: Exchange, path: string): Promise<void> {
    const { request, response, tenant } = exchange;
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
    if (method === 'OPTIONS') return answerOptions(exchange, path);
    exchange.headers.push(...cors.headers(request));
    const isWrite = method !== 'GET';
    if (tenant.limiter && limits !== 'off')
      await take(tenant.limiter, addressDemands(limits, exchange.ip, isWrite), 'RATE_LIMITED');
    const match = router.find(method, path);
    if (!match) throw missing(exchange, path);
    exchange.operation = match.operation;
    requireJsonWished(request);
    const answer = await handle(exchange, match.operation, method, match.params);
    if (answer === undefined) sendNothing(response, 204, exchange.headers);
    else send(response, match.operation.declaration.returns.status, answer, exchange.headers);
    finish(exchange, response.statusCode, match.operation.declaration.id);
  }

  function answerOptions(exchange: Exchange, path: string): void {
    const methods = router.methods(path);
    if (methods.length === 0) throw new ApiError('RESOURCE_NOT_FOUND');
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    const headers = [...exchange.headers, 'allow', allow.join(', '), ...cors.preflight(exchange.request, allow)];
    sendNothing(exchange.response, 204, headers);
    finish(exchange, 204, 'options');
  }

  function missing(exchange: Exchange, path: string): ApiError {
    const methods: string[] = router.methods(path);
    if (methods.length === 0) return new ApiError('RESOURCE_NOT_FOUND');
    if (methods.includes('GET')) methods.push('HEAD');
    exchange.headers.push('allow', [...methods, 'OPTIONS'].join(', '));
    return new ApiError('METHOD_NOT_ALLOWED');
  }

  async function handle(
    exchange: Exchange,
    operation: AnyOperation,
    method: string,
    rawParams: Record<string, string>,
  ): Promise<string | undefined> {
    const { request, tenant } = exchange;
    const { app } = tenant;
    const { declaration } = operation;
    const asOf = app.db.changes.now();
    const query = exchange.search ? parseForm(exchange.search) : EMPTY;
    exchange.caller = await authenticate(exchange, operation, method, query);
    const params = paramsOf(operation, rawParams);
    const payload = method === 'GET' ? undefined : await readPayload(app, request, operation, query);
    try {
      const scopes: string[] = [];
      const input = inputOf(exchange, operation, params, query, payload?.fields ?? EMPTY, payload?.files ?? {}, scopes);
      const answer = await declaration.handle(app, input);
      const text = textOf(exchange, answer);
      parts.observe?.({
        operation,
        status: declaration.returns.status,
        body: text === undefined ? undefined : JSON.parse(text),
        error: undefined,
      });
      if (method === 'GET' && text !== undefined && scopes.length > 0) keep(exchange, operation, text, scopes, asOf);
      return text;
    } finally {
      await payload?.discard();
    }
  }

  async function authenticate(
    exchange: Exchange,
    operation: AnyOperation,
    method: string,
    query: Fields,
  ): Promise<Caller> {
    const { request, tenant, ip } = exchange;
    const { declaration } = operation;
    const credentials: Credentials = {
      bearer: bearerOf(request),
      apiKey: typeof query['api_key'] === 'string' ? query['api_key'] : undefined,
    };
    const caller = await tenant.authenticator.authenticate(declaration.access, method, credentials);
    if (caller.kind === 'user' && !negotiate(request.headers['accept-language']))
      exchange.language = languageOf(caller.language) ?? 'en';
    if (tenant.limiter && limits !== 'off') {
      await take(tenant.limiter, callerDemands(limits, caller, method !== 'GET'), 'RATE_LIMITED');
      await take(tenant.limiter, operationDemands(limits, declaration, caller, ip), 'RATE_LIMITED_ENDPOINT');
    }
    return caller;
  }

  function inputOf(
    exchange: Exchange,
    { declaration }: AnyOperation,
    params: unknown,
    query: Fields,
    fields: Fields,
    files: Input<unknown, unknown, unknown>['files'],
    scopes: string[],
  ): Input<unknown, unknown, unknown> {
    const { request } = exchange;
    return {
      caller: exchange.caller,
      params,
      query: declaration.query ? validate(declaration.query, query) : EMPTY,
      body: declaration.body ? validate(declaration.body, fields) : EMPTY,
      files,
      list: declaration.list ? readList(declaration.list, query) : NO_LIST,
      language: exchange.language,
      contentLanguage: languageOf(request.headers['content-language']) ?? 'en',
      platform: platformOf(ownHeader(request.headers, settings.headerPrefixes, 'platform')),
      portal: portalOf(ownHeader(request.headers, settings.headerPrefixes, 'portal')),
      ip: exchange.ip,
      hostGameId: exchange.scope.gameId,
      keep: (...named) => void scopes.push(...named),
    };
  }

  function keep(
    exchange: Exchange,
    { declaration }: AnyOperation,
    text: string,
    scopes: readonly string[],
    asOf: number,
  ): void {
    const key = exchange.request.method === 'GET' ? keyOf(exchange) : undefined;
    if (!key) return;
    const bytes = Buffer.from(text);
    kept[exchange.scope.environment].keep(key.text, {
      bytes,
      headers: [...COMMON_HEADERS, 'content-length', String(bytes.length)],
      scopes,
      asOf,
      operationId: declaration.id,
      operationLimit: declaration.limit,
    });
  }

  function isSecure(request: IncomingMessage): boolean {
    if ((request.socket as { encrypted?: boolean }).encrypted) return true;
    return (
      request.headers['x-forwarded-proto'] === 'https' && isTrusted(request.socket.remoteAddress, settings.trustProxy)
    );
  }

  function fail(exchange: Exchange, cause: unknown): void {
    const { request, response, tenant } = exchange;
    const error = toApiError(cause);
    const { log } = tenant.app;
    if (error.status >= 500)
      log.error('request failed', {
        request: exchange.id,
        method: request.method,
        url: safeUrl(request.url ?? ''),
        error: error.cause,
      });
    if (response.headersSent || response.destroyed) return void response.destroy();
    const body = errorBody(error, exchange.language);
    parts.observe?.({ operation: exchange.operation, status: error.status, body, error });
    // Of what is left of a body nobody will read the rest: the connection ends with the answer.
    const unread = hasBody(request) && !request.complete;
    const headers = [...exchange.headers];
    if (error.retryAfterSeconds !== undefined && error.status === 429)
      headers.push('retry-after', String(error.retryAfterSeconds));
    if (unread) headers.push('connection', 'close');
    send(response, error.status, JSON.stringify(body), headers);
    finish(exchange, error.status, exchange.operation?.declaration.id ?? 'none');
  }

  function finish(exchange: Exchange, status: number, operationId: string): void {
    const { request, tenant, started, ip } = exchange;
    const milliseconds = performance.now() - started;
    parts.count(operationId, status, milliseconds / 1000);
    tenant.app.log.info('request', {
      request: exchange.id,
      environment: exchange.scope.environment,
      method: request.method,
      url: safeUrl(request.url ?? ''),
      status,
      ms: Math.round(milliseconds * 100) / 100,
      ip,
    });
  }
}

function textOf(exchange: Exchange, answer: unknown): string | undefined {
  if (answer instanceof Created) {
    exchange.headers.push('location', answer.location);
    return textOf(exchange, answer.body);
  }
  if (answer instanceof Json) return answer.text;
  return answer === undefined ? undefined : JSON.stringify(answer);
}

/** An id that is no number names nothing: the answer is the noun's own "not found", not a complaint about a field. */
function paramsOf({ declaration }: AnyOperation, raw: Record<string, string>): unknown {
  if (!declaration.params) return EMPTY;
  const parsed = declaration.params.safeParse(raw);
  if (!parsed.success) throw new ApiError('RESOURCE_NOT_FOUND');
  return parsed.data;
}

/** An empty bearer counts as none (`clients.md`, 8). */
function bearerOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7).trim() || undefined;
}

/** Takes `api_key` out of a query without parsing the rest. */
function takeApiKey(search: string): { apiKey: string | undefined; rest: string } {
  const at = search.startsWith('api_key=') ? 0 : search.indexOf('&api_key=') + 1;
  if (at === 0 && !search.startsWith('api_key=')) return { apiKey: undefined, rest: search };
  const end = search.indexOf('&', at);
  const stop = end === -1 ? search.length : end;
  return { apiKey: search.slice(at + 8, stop), rest: search.slice(0, at) + search.slice(stop + 1) };
}

const JSON_TYPES = /(?:^|[\s,])(?:application\/(?:json|\*|[a-z0-9.-]+\+json)|\*\/\*|text\/json)/i;

function requireJsonWished({ headers }: IncomingMessage): void {
  if (headers.accept && !JSON_TYPES.test(headers.accept)) throw new ApiError('JSON_RESPONSE_ONLY');
}
