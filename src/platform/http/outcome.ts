import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../errors/catalogue.ts';
import { shownLanguage } from '../localisation/languages.ts';
import { safeUrl } from '../runtime/log.ts';
import { type TracedRequest, traceIdOf } from '../telemetry/telemetry.ts';
import { type SlowRequest, trafficObservers } from '../telemetry/traffic.ts';
import { errorBody, send, toApiError } from './answer.ts';
import { type Exchange, hasBody } from './exchange.ts';
import { type AnyOperation, isEventStream, isStoredFile } from './operation.ts';
import { transferScheduler } from './transfer-scheduler.ts';

/** One response as observers see it; tests check it against the declaration. */
export interface Observation {
  readonly operation: AnyOperation | undefined;
  readonly status: number;
  readonly body: unknown;
  readonly error: ApiError | undefined;
}

export type Observe = (observation: Observation) => void;
export type Count = (operationId: string, status: number, seconds: number) => void;

/** The status in metrics and logs when the client disconnected. It is never sent. */
const CLIENT_GONE = 499;

/** The metrics label of requests to system routes. Most come from monitoring, which can wait for transfers. */
export const SYSTEM_ROUTE = 'elsewhere';

/** The parts of an exchange that are logged and counted at its end. */
type Ended = Pick<
  Exchange,
  'id' | 'request' | 'started' | 'tenant' | 'scope' | 'ip' | 'operation' | 'trace' | 'isStream'
>;

/** A request that equals an earlier one: of an operation, or of a page by its route. */
type Repeated = Omit<Ended, 'id' | 'request' | 'started'> & { readonly route?: string };

/** True when the exchange carries files or streams, so that its duration depends on the client. */
function isTransfer({ operation, request, isStream }: Pick<Ended, 'operation' | 'request' | 'isStream'>): boolean {
  if (isStream) return true;
  if (!operation) return request.url?.startsWith('/files/') === true;
  const { returns, files, raw } = operation.declaration;
  return files !== undefined || raw !== undefined || isStoredFile(returns) || isEventStream(returns);
}

/** Slower requests are logged as warnings, unless they are transfers. */
const SLOW_MS = 1_000;
const PATH_SHOWN = 500;

/** Ends requests: counts and logs each one, and sends the error response of failed ones. */
export interface Outcomes {
  finish(exchange: Ended, status: number, operationId: string): void;
  /** The same for the fast path, without allocating an exchange. */
  finishRepeat(repeat: Repeated, request: IncomingMessage, id: string, started: number, status: number): void;
  fail(exchange: Exchange, cause: unknown): void;
}

export function createOutcomes(count: Count, observe: Observe | undefined): Outcomes {
  function finish(exchange: Ended, status: number, operationId: string): void {
    const now = performance.now();
    const milliseconds = now - exchange.started;
    count(operationId, status, milliseconds / 1000);
    exchange.trace?.end(operationId, status);
    const { log } = exchange.tenant.app;
    const isAsking = !isTransfer(exchange);
    if (isAsking && operationId !== SYSTEM_ROUTE) transferScheduler.noteRequest(now);
    if (milliseconds > SLOW_MS && isAsking) {
      log.warn('slow request', lineOf(exchange, status, milliseconds));
      noteSlow(exchange, { operation: operationId, status, milliseconds });
    } else if (log.writes('debug')) log.debug('request', lineOf(exchange, status, milliseconds));
  }

  function finishRepeat(repeat: Repeated, request: IncomingMessage, id: string, started: number, status: number): void {
    const { log } = repeat.tenant.app;
    const operationId = repeat.operation?.declaration.id ?? repeat.route ?? SYSTEM_ROUTE;
    if (log.writes('debug')) return void finish({ ...repeat, request, id, started }, status, operationId);
    const now = performance.now();
    transferScheduler.noteRequest(now);
    count(operationId, status, (now - started) / 1000);
  }

  function fail(exchange: Exchange, cause: unknown): void {
    const { response, operation } = exchange;
    const operationId = operation?.declaration.id ?? 'none';
    if (response.destroyed) return void finish(exchange, CLIENT_GONE, operationId);
    const error = toApiError(cause);
    // An overloaded service refuses many requests; the metrics count them.
    if (error.status >= 500 && !isOverload(error)) complain(exchange, error.cause);
    if (response.headersSent) return void response.destroy();
    const { status, body, headers } = operation?.declaration.refusal?.of(error, exchange.language) ?? {
      status: error.status,
      body: errorBody(error, exchange.language),
      headers: ['content-language', shownLanguage(exchange.language)],
    };
    observe?.({ operation, status, body, error });
    // Shipped clients treat `Retry-After` as a rate limit on any status (docs/API-QUIRKS.md, 17).
    if (error.retryAfterSeconds !== undefined && (error.status === 429 || isOverload(error)))
      exchange.headers.push('retry-after', String(error.retryAfterSeconds));
    if (error.location !== undefined) exchange.headers.push('location', error.location);
    endWithAnswer(exchange);
    send(response, status, JSON.stringify(body), [...exchange.headers, ...headers]);
    finish(exchange, status, operationId);
  }

  return { finish, finishRepeat, fail };
}

function noteSlow(
  { request, tenant: { app } }: Ended,
  timed: Pick<SlowRequest, 'operation' | 'status' | 'milliseconds'>,
): void {
  const [path = ''] = (request.url ?? '').split('?');
  const slow = { ...timed, method: request.method ?? '', path: path.slice(0, PATH_SHOWN) };
  for (const each of app.extensions.of(trafficObservers)) each.onSlow(app, slow);
}

const isOverload = ({ status, retryAfterSeconds }: ApiError) => status === 503 && retryAfterSeconds !== undefined;

function lineOf({ id, request, scope, ip, trace }: Ended, status: number, milliseconds: number) {
  return {
    request: id,
    trace: traceIn(trace, request),
    environment: scope.environment,
    method: request.method,
    url: safeUrl(request.url ?? ''),
    status,
    ms: Math.round(milliseconds * 100) / 100,
    ip,
  };
}

const traceIn = (trace: TracedRequest | undefined, { headers }: IncomingMessage) =>
  trace?.traceId ?? traceIdOf(headers['traceparent']);

function complain({ id, request, tenant, trace }: Exchange, error: unknown): void {
  const url = safeUrl(request.url ?? '');
  tenant.app.log.error('request failed', {
    request: id,
    trace: traceIn(trace, request),
    method: request.method,
    url,
    error,
  });
}

/**
 * Closes the connection after the response if the rest of the body stays unread, and after uploads: shipped clients
 * send surplus bytes after them that may arrive later (docs/API-QUIRKS.md, 2).
 */
export function endWithAnswer({ request, response, operation }: Exchange): void {
  const isLeft = hasBody(request) && !request.complete;
  if (isLeft || isUpload(request, operation)) response.shouldKeepAlive = false;
}

/** A URL-encoded form carries no file, even if the operation accepts files. */
function isUpload({ headers }: IncomingMessage, operation: AnyOperation | undefined): boolean {
  const { files, raw } = operation?.declaration ?? {};
  return raw !== undefined || (files !== undefined && !isForm(headers['content-type']));
}

const isForm = (type: string | undefined) => /^\s*application\/x-www-form-urlencoded\b/i.test(type ?? '');
