import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { HostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type AccessCheck, createExchanges, type Exchange, isUnambiguous, type Tenants } from './exchange.ts';
import { createFastPath } from './fast-path.ts';
import { createHandling, type MovedIds } from './handling.ts';
import { inProcessExchange } from './in-process.ts';
import type { AnyOperation } from './operation.ts';
import { type Count, createOutcomes, type Observe, SYSTEM_ROUTE } from './outcome.ts';
import { createPageCache } from './page-cache.ts';
import type { PageHandling } from './pages.ts';
import type { AnswerInside, SiteHandling } from './site.ts';
import { isSocketPath } from './sockets.ts';
import type { Transfers } from './transfer/transfer.ts';

export type { Tenant } from './exchange.ts';
export type { Observation } from './outcome.ts';

/** Answers requests to system routes: health, documentation, files. False when the path is none of them. */
type SystemRoutes = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  scope: HostScope,
) => boolean | Promise<boolean>;

export interface ServerParts {
  readonly settings: Settings;
  readonly tenants: Tenants;
  readonly operations: readonly AnyOperation[];
  readonly systemRoutes: SystemRoutes;
  readonly pages?: PageHandling;
  readonly site?: SiteHandling | undefined;
  readonly transfers: Transfers;
  /** Aborted at shutdown, which ends streaming responses. */
  readonly draining: AbortSignal;
  readonly accessCheck?: AccessCheck | undefined;
  readonly observe?: Observe;
  readonly prepareRules?: (app: App, gameId: number, caller: Caller) => Promise<void>;
  /** Where the game and mod of a path are now, asked if they were not found. */
  readonly movedIds?: MovedIds;
  readonly count: Count;
  /** Traces requests, except for those that are answered from the cache. */
  readonly telemetry?: Pick<Telemetry, 'trace'> | undefined;
}

const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz'];
/** Paths of the operator's monitoring, which does not pass the access proxy. */
const OPEN_PATHS: readonly string[] = [...HEALTH_PATHS, '/metrics'];

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const traceparentOf = ({ headers }: IncomingMessage) => [headers['traceparent']].flat()[0];

const VERSION = /^\/v(\d+)(?=\/|$)/;

/** Builds the request listener from the declarations. */
export function createServer(parts: ServerParts): Listener {
  const {
    settings,
    tenants,
    operations,
    systemRoutes,
    pages,
    site,
    transfers,
    draining,
    accessCheck,
    observe,
    prepareRules,
    movedIds,
    telemetry,
  } = parts;
  const exchanges = createExchanges(settings, tenants);
  const fastPath = createFastPath(settings, tenants);
  const pageCache = site && createPageCache(settings, tenants);
  const outcomes = createOutcomes(parts.count, observe);
  const handle = createHandling({
    settings,
    operations,
    fastPath,
    transfers,
    draining,
    observe,
    prepareRules,
    movedIds,
  });

  /** Everything that a request from outside passes, besides the checks that its page has passed already. */
  const answerInside: AnswerInside = (page, request, visitor) => {
    const { exchange, answer } = inProcessExchange(page, request, visitor, exchanges.nextId());
    const known = fastPath.answer(exchange);
    if (known) outcomes.finish(exchange, 200, known.declaration.id);
    else
      handle(exchange, exchange.path.slice('/v1'.length)).then(
        (name) => outcomes.finish(exchange, exchange.response.statusCode, name),
        (error) => outcomes.fail(exchange, error),
      );
    return answer.then((response) => ({ response, freshness: exchange.freshness }));
  };

  const finishPage = (exchange: Exchange, name: string) =>
    outcomes.finish(exchange, exchange.response.statusCode, name);

  async function respond(exchange: Exchange): Promise<void> {
    const { request, response, path } = exchange;
    if (!exchange.secure) throw new ApiError('HTTPS_REQUIRED');
    // Bans may have to be read from a busy database, and a health check must not wait for it.
    const asking = HEALTH_PATHS.includes(path) ? undefined : exchange.tenant.gate.requireOpen(exchange.ip);
    if (asking) await asking;
    if (accessCheck && !OPEN_PATHS.includes(path)) await accessCheck(exchange.tenant.app, request);
    const version = path.startsWith('/v1/') ? '1' : VERSION.exec(path)?.[1];
    if (version !== undefined && version !== '1') throw new ApiError('API_VERSION_INVALID');
    if (isSocketPath(path, exchange.scope)) throw new ApiError('WS_MISSING_CONNECTION_ID');
    const answered = systemRoutes(request, response, path, exchange.scope);
    if (answered && (await answered)) return outcomes.finish(exchange, response.statusCode, SYSTEM_ROUTE);
    const page = pages?.(exchange);
    if (page) return finishPage(exchange, await page);
    if (version === undefined) {
      const page = site?.(exchange, answerInside, pageCache!);
      if (!page) throw new ApiError('RESOURCE_NOT_FOUND');
      return finishPage(exchange, await page);
    }
    const name = await handle(exchange, path.slice('/v1'.length) || '/');
    outcomes.finish(exchange, response.statusCode, name);
  }

  const answer = (exchange: Exchange) => void respond(exchange).catch((error) => outcomes.fail(exchange, error));

  return (request, response) => {
    const id = exchanges.nextId();
    const started = performance.now();
    // The fast path skips the access check, so it is off when there is one.
    const isForApi = request.url?.startsWith('/v1/') ?? false;
    if (!accessCheck && isForApi) {
      const repeat = fastPath.answerRepeat(request, response, id);
      if (repeat) return outcomes.finishRepeat(repeat, request, id, started, response.statusCode);
    } else if (!accessCheck) {
      const repeat = pageCache?.answerRepeat(request, response, id);
      if (repeat) return outcomes.finishRepeat(repeat, request, id, started, response.statusCode);
    }
    const exchange = exchanges.begin(request, response, id, started);
    if (!isUnambiguous(request)) {
      response.shouldKeepAlive = false;
      return outcomes.fail(exchange, new ApiError('REQUEST_MALFORMED'));
    }
    const page = accessCheck ? undefined : pageCache?.answer(exchange);
    if (page) return finishPage(exchange, page);
    const known = accessCheck ? undefined : fastPath.answer(exchange);
    if (known) outcomes.finish(exchange, response.statusCode, known.declaration.id);
    else if (telemetry)
      telemetry.trace(traceparentOf(request), started, (trace) => {
        exchange.trace = trace;
        answer(exchange);
      });
    else answer(exchange);
  };
}
