import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../errors/catalogue.ts';
import { safeUrl } from '../runtime/log.ts';
import { errorBody, send, toApiError } from './answer.ts';
import { type Exchange, hasBody } from './exchange.ts';
import { type AnyOperation, isEventStream, isStoredFile } from './operation.ts';
import { rightOfWay } from './right-of-way.ts';

/** What is seen of every answer; tests hold it against the declarations. */
export interface Observation {
  readonly operation: AnyOperation | undefined;
  readonly status: number;
  readonly body: unknown;
  readonly error: ApiError | undefined;
}

export type Observe = (observation: Observation) => void;
export type Count = (operationId: string, status: number, seconds: number) => void;

/** The status in figures and logs of a request whose client went away. It is never sent. */
const CLIENT_GONE = 499;

/** What requests for health, figures and documentation are called in figures. Most come from machines, who can wait. */
export const SYSTEM_ROUTE = 'elsewhere';

/** What of an exchange is told when it is over. */
type Ended = Pick<Exchange, 'id' | 'request' | 'started' | 'tenant' | 'scope' | 'ip' | 'operation'>;

/** Whether it carries files or goes on for as long as it is read, so that it is as slow as its client. */
function isTransfer({ operation, request }: Pick<Ended, 'operation' | 'request'>): boolean {
  if (!operation) return request.url?.startsWith('/files/') === true;
  const { returns, files, raw } = operation.declaration;
  return files !== undefined || raw !== undefined || isStoredFile(returns) || isEventStream(returns);
}

/** A request that takes longer is worth a line of its own, unless it is a transfer. */
const SLOW_MS = 1_000;

/** How requests end: each is counted, logged and, where it failed, answered with what the client may know. */
export interface Outcomes {
  finish(exchange: Ended, status: number, operationId: string): void;
  /** The same for the fast lane, which makes nothing that is not needed. */
  finishRepeat(
    repeat: Omit<Ended, 'id' | 'request' | 'started'>,
    request: IncomingMessage,
    id: string,
    started: number,
    operationId: string,
  ): void;
  fail(exchange: Exchange, cause: unknown): void;
}

export function createOutcomes(count: Count, observe: Observe | undefined): Outcomes {
  function finish(exchange: Ended, status: number, operationId: string): void {
    const now = performance.now();
    const milliseconds = now - exchange.started;
    count(operationId, status, milliseconds / 1000);
    const { log } = exchange.tenant.app;
    const isAsking = !isTransfer(exchange);
    if (isAsking && operationId !== SYSTEM_ROUTE) rightOfWay.asked(now);
    if (milliseconds > SLOW_MS && isAsking) log.warn('slow request', lineOf(exchange, status, milliseconds));
    else if (log.writes('debug')) log.debug('request', lineOf(exchange, status, milliseconds));
  }

  function finishRepeat(
    repeat: Omit<Ended, 'id' | 'request' | 'started'>,
    request: IncomingMessage,
    id: string,
    started: number,
    operationId: string,
  ): void {
    const { log } = repeat.tenant.app;
    if (log.writes('debug')) return void finish({ ...repeat, request, id, started }, 200, operationId);
    const now = performance.now();
    rightOfWay.asked(now);
    count(operationId, 200, (now - started) / 1000);
  }

  function fail(exchange: Exchange, cause: unknown): void {
    const { response, operation } = exchange;
    const operationId = operation?.declaration.id ?? 'none';
    if (response.destroyed) return void finish(exchange, CLIENT_GONE, operationId);
    const error = toApiError(cause);
    if (error.status >= 500) complain(exchange, error.cause);
    if (response.headersSent) return void response.destroy();
    const { status, body, headers } = operation?.declaration.refusal?.of(error, exchange.language) ?? {
      status: error.status,
      body: errorBody(error, exchange.language),
      headers: [],
    };
    observe?.({ operation, status, body, error });
    // On anything but a 429 shipped clients would take it for a rate limit (docs/API-QUIRKS.md, 17).
    if (error.status === 429 && error.retryAfterSeconds !== undefined)
      exchange.headers.push('retry-after', String(error.retryAfterSeconds));
    if (error.location !== undefined) exchange.headers.push('location', error.location);
    endWithAnswer(exchange);
    send(response, status, JSON.stringify(body), [...exchange.headers, ...headers]);
    finish(exchange, status, operationId);
  }

  return { finish, finishRepeat, fail };
}

function lineOf({ id, request, scope, ip }: Ended, status: number, milliseconds: number) {
  return {
    request: id,
    environment: scope.environment,
    method: request.method,
    url: safeUrl(request.url ?? ''),
    status,
    ms: Math.round(milliseconds * 100) / 100,
    ip,
  };
}

function complain({ id, request, tenant }: Exchange, error: unknown): void {
  const url = safeUrl(request.url ?? '');
  tenant.app.log.error('request failed', { request: id, method: request.method, url, error });
}

/**
 * The connection ends with the answer where nobody will read the rest of a body, and after uploads: shipped
 * clients send surplus bytes after them, which may arrive only after the answer (docs/API-QUIRKS.md, 2).
 */
export function endWithAnswer({ request, response, operation }: Exchange): void {
  const isLeft = hasBody(request) && !request.complete;
  if (isLeft || isUpload(request, operation)) response.shouldKeepAlive = false;
}

/** A form of an operation that takes files, but without one, is as any other form. */
function isUpload({ headers }: IncomingMessage, operation: AnyOperation | undefined): boolean {
  const { files, raw } = operation?.declaration ?? {};
  return raw !== undefined || (files !== undefined && !isForm(headers['content-type']));
}

const isForm = (type: string | undefined) => /^\s*application\/x-www-form-urlencoded\b/i.test(type ?? '');
