import type { IncomingMessage } from 'node:http';
import { actingAs, admittedAnonymously, isWithoutCredentials } from '../access/admission.ts';
import type { Caller } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { isTimeout } from '../database/failures.ts';
import { parameterOf } from '../database/listing.ts';
import { ApiError } from '../errors/catalogue.ts';
import { type ReadAnswer, send, sendCsv, sendNothing, sendRead } from './answer.ts';
import { createCors } from './cors.ts';
import { deprecationHeaders } from './deprecation.ts';
import { forgettingRequests, handleOnce } from './duplicate-requests.ts';
import { entityTagOf } from './entity-tag.ts';
import { bearerOf, type Exchange, languageFor } from './exchange.ts';
import { requirePlace, withFairShare } from './fair-share.ts';
import type { FastPath } from './fast-path.ts';
import { type AnyInput, inputOf, inputWithin, type ParsedRequest, paramsOf } from './input.ts';
import {
  type AnyOperation,
  Bytes,
  Created,
  Csv,
  isCsv,
  isEventStream,
  isStoredFile,
  Json,
  Stream,
  takesBody,
} from './operation.ts';
import { withLocks } from './operation-locks.ts';
import { endWithAnswer, type Observe } from './outcome.ts';
import { NO_PAYLOAD, readPayload } from './payload.ts';
import { takeForAddress, takeForCaller } from './rate-limit-buckets.ts';
import { type Fields, parseQuery } from './request/forms.ts';
import type { CachedResponse } from './response-cache.ts';
import { type Match, routerOf } from './router.ts';
import { requireStreamPlace, sendStream } from './stream.ts';
import { sendFile } from './transfer/file.ts';
import type { Transfers } from './transfer/transfer.ts';

export interface HandlingParts {
  readonly settings: Settings;
  readonly operations: readonly AnyOperation[];
  readonly fastPath: FastPath;
  readonly transfers: Transfers;
  /** Aborted when the service shuts down. */
  readonly draining: AbortSignal;
  readonly observe: Observe | undefined;
  /** Called before the handler of an operation that a game's rules apply to. */
  readonly prepareRules?: ((app: App, gameId: number, caller: Caller) => Promise<void>) | undefined;
  /** Where the game and mod of a path are now, asked if they were not found. */
  readonly movedIds?: MovedIds | undefined;
}

type PathParams = { readonly game_id?: number; readonly mod_id?: number };
export type MovedIds = <P extends PathParams>(app: App, params: P) => Promise<P | undefined>;

/** Answers a request to an operation and returns the operation's name for the metrics. */
export type Handling = (exchange: Exchange, path: string) => Promise<string>;

export function createHandling(parts: HandlingParts): Handling {
  const { settings, operations } = parts;
  const router = routerOf(operations);
  const cors = createCors(settings.corsOrigins);

  /** True when pages of other sites may read the responses of this path. */
  const isShared = (path: string): boolean =>
    !router.allowed(path).some((method) => router.find(method, path)?.operation.declaration.sameOrigin);

  function answerOptions(exchange: Exchange, path: string): string {
    const allowed = router.allowed(path);
    if (allowed.length === 0) throw new ApiError('RESOURCE_NOT_FOUND');
    const shared = isShared(path) ? cors.preflight(exchange.request, allowed) : [];
    sendNothing(exchange.response, 204, [...exchange.headers, 'allow', allowed.join(', '), ...shared]);
    return 'options';
  }

  function missing(exchange: Exchange, allowed: readonly string[]): ApiError {
    if (allowed.length === 0) return new ApiError('RESOURCE_NOT_FOUND');
    exchange.headers.push('allow', allowed.join(', '));
    return new ApiError('METHOD_NOT_ALLOWED');
  }

  return async (exchange, path) => {
    const { request, response } = exchange;
    const shared = cors.headers(request);
    if (shared.length > 0 && isShared(path)) exchange.headers.push(...shared);
    const method = methodOf(request);
    const taking = takeForAddress(settings.rateLimits, exchange, method !== 'GET' && method !== 'OPTIONS');
    if (taking) await taking;
    if (method === 'OPTIONS') return answerOptions(exchange, path);
    const match = router.find(method, path);
    if (!match) throw missing(exchange, router.allowed(path));
    exchange.operation = match.operation;
    exchange.headers.push(...deprecationHeaders(match.operation, exchange.tenant.app.addresses.api));
    const refusing = requirePlace(exchange.tenant.app.db, match.operation, exchange.ip);
    if (refusing) await refusing;
    const { id, returns } = match.operation.declaration;
    if (!isStoredFile(returns) && !isEventStream(returns) && !isCsv(returns)) requireJsonWished(request);
    const body = await bodyOfAnswer(parts, exchange, match);
    if (body instanceof Stream) requireStreamPlace(exchange);
    endWithAnswer(exchange);
    if ('recalled' in body) parts.fastPath.send(exchange, body.recalled);
    else if (body instanceof Bytes) await sendFile(parts, exchange, body);
    else if (body instanceof Stream)
      await sendStream(exchange, body, parts.draining, async () => {
        await exchange.tenant.gate.requireOpen(exchange.ip);
        if (exchange.visitor && !(await exchange.findVisitor?.())) throw new ApiError('USER_MUST_BE_LOGGED_IN');
        await authenticated(exchange, match.operation, parseQuery(exchange.search));
      });
    else if (body instanceof Csv) sendCsv(response, body, exchange.headers);
    else if ('entityTag' in body) sendRead(response, request.headers['if-none-match'], body, exchange.headers);
    else if (body.text === undefined) sendNothing(response, 204, exchange.headers);
    else send(response, body.status, body.text, exchange.headers, body.bytes);
    return id;
  };
}

/** A JSON response, or an empty one. */
interface SentBody {
  readonly status: number;
  readonly text: string | Buffer | undefined;
  readonly bytes: number | undefined;
}

/** Authenticates the caller, reads the payload and runs the operation's handler. */
async function bodyOfAnswer(
  parts: HandlingParts,
  exchange: Exchange,
  { operation, params: rawParams }: Match,
): Promise<AnswerBody> {
  const { request, tenant } = exchange;
  const { app } = tenant;
  const { settings } = parts;
  const asOf = app.db.changes.now();
  const query = parseQuery(exchange.search);
  const caller = authenticated(exchange, operation, query);
  exchange.caller = caller instanceof Promise ? await caller : caller;
  exchange.language = languageFor(request, exchange.caller);
  const taking = takeForCaller(settings.rateLimits, exchange, operation);
  if (taking) await taking;
  const params = paramsOf(operation, rawParams);
  const isRead = methodOf(request) === 'GET';
  const { caller: asking } = exchange;
  const { access } = operation.declaration;
  const { game_id: gameId } = params as { game_id?: number };
  if (isWithoutCredentials(access, asking)) exchange.caller = await admittedAnonymously(app.db, access, asking, gameId);
  admit(exchange, operation, params as { game_id?: number }, isRead);
  const recalled = isRead ? parts.fastPath.recall(exchange, operation) : undefined;
  if (recalled) return { recalled };
  const payload = isRead && !takesBody(operation) ? NO_PAYLOAD : await readPayload(app, request, operation, query);
  try {
    return await answerFor(parts, exchange, operation, { params, query, payload }, asOf);
  } catch (error) {
    const moved = isNotFound(error) ? await parts.movedIds?.(app, params as PathParams) : undefined;
    if (!moved) throw error;
    admit(exchange, operation, moved, isRead);
    return await answerFor(parts, exchange, operation, { params: moved, query, payload }, asOf);
  } finally {
    if (payload.discard) await payload.discard();
  }
}

type AnswerBody = SentBody | ReadAnswer | Bytes | Stream | Csv | { readonly recalled: CachedResponse };

const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && (error.error === 'GAME_NOT_FOUND' || error.error === 'MOD_NOT_FOUND');

/** Runs the operation's handler. */
async function answerFor(
  { settings, fastPath, observe, prepareRules }: HandlingParts,
  exchange: Exchange,
  operation: AnyOperation,
  { params, query, payload }: ParsedRequest,
  asOf: number,
): Promise<AnswerBody> {
  const { app } = exchange.tenant;
  const { declaration } = operation;
  const isRead = methodOf(exchange.request) === 'GET';
  const scopes: string[] = [];
  let until = Number.POSITIVE_INFINITY;
  const cache = (...named: string[]) => void scopes.push(...named);
  const cacheUntil = (second: number) => {
    until = Math.min(until, second);
  };
  const parse = declaration.ownBody ? inputWithin : inputOf;
  const reading = parse(settings, exchange, operation, { params, query, payload }, { cache, cacheUntil });
  const input = reading instanceof Promise ? await reading : reading;
  const { game_id } = params as { game_id?: number };
  if (declaration.rules && game_id !== undefined) await prepareRules?.(app, game_id, input.caller);
  const handle = (acting: App): unknown =>
    declaration.rules ? ruled(acting, operation, input) : withCost(input, declaration.handle(acting, input));
  const holder = isRead ? app : withLocks(app, operation, input);
  const isGone = () => exchange.response.destroyed;
  const handling = withFairShare(app.db, operation, input, isGone, () =>
    handled(holder, exchange, operation, { params, query, payload }, handle),
  );
  const answer = handling instanceof Promise ? await handling : handling;
  const { returns } = declaration;
  const status = returns.orThere && !(answer instanceof Created) ? 200 : returns.status;
  if (answer instanceof Bytes || answer instanceof Stream || answer instanceof Csv) {
    observe?.({ operation, status, body: answer, error: undefined });
    return answer;
  }
  const text = textOf(exchange, answer);
  observe?.({ operation, status, body: text === undefined ? undefined : JSON.parse(String(text)), error: undefined });
  const known = answer instanceof Json ? answer : undefined;
  if (!isRead || text === undefined || status !== 200) return { status, text, bytes: known?.bytes };
  const bytes = known?.bytes ?? Buffer.byteLength(text);
  const read = { text, bytes, entityTag: entityTagOf(text, bytes, known?.checksum), cached: scopes.length > 0 };
  if (read.cached) fastPath.store(exchange, operation, read, { scopes, asOf, until });
  return read;
}

function handled(
  app: App,
  exchange: Exchange,
  operation: AnyOperation,
  parsed: ParsedRequest,
  handle: (acting: App) => unknown,
): unknown {
  const { once, method } = operation.declaration;
  if (once) return handleOnce(app, exchange, operation, parsed, handle);
  return handle(method === 'DELETE' ? forgettingRequests(app, exchange) : app);
}

const withCost = (input: AnyInput, handling: unknown): unknown =>
  handling instanceof Promise ? handling.catch((error) => Promise.reject(costOf(error, input))) : handling;

/** A list query that timed out is rejected with the names of the filters that made it expensive. */
function costOf(error: unknown, { list }: AnyInput): unknown {
  const asked = [...list.groups.flat().map(parameterOf), ...(list.words.length > 0 ? ['_q'] : [])];
  if (!isTimeout(error) || asked.length === 0) return error;
  return new ApiError('VALIDATION_GENERIC', {
    cause: error,
    fields: asked.map((field) => ({ field, rule: 'filter_cost' })),
  });
}

/** Records what the game's rules rejected before the error is sent. */
async function ruled(app: App, { declaration }: AnyOperation, input: AnyInput): Promise<unknown> {
  try {
    return await declaration.handle(app, input);
  } catch (error) {
    if (input.caller.kind === 'user') await input.caller.submission?.refusal?.();
    throw error;
  }
}

function authenticated(exchange: Exchange, { declaration }: AnyOperation, query: Fields): Caller | Promise<Caller> {
  const { request, tenant, visitor } = exchange;
  if (visitor) return tenant.authenticator.admitVisitor(declaration.access, methodOf(request), visitor);
  const apiKey = typeof query['api_key'] === 'string' ? query['api_key'] : undefined;
  return tenant.authenticator.authenticate(declaration.access, methodOf(request), {
    bearer: bearerOf(request),
    apiKey,
  });
}

/** Checks the declared power against the token, and narrows the caller to what it may act as in this game. */
function admit(exchange: Exchange, { declaration }: AnyOperation, params: { game_id?: number }, isRead: boolean): void {
  const { access } = declaration;
  const reads = isRead || (access.kind === 'reader' && access.byPost === true);
  const place = { gameId: params.game_id, hostGameId: exchange.scope.gameId, isRead: reads };
  const acting = actingAs(access, exchange.caller, place);
  if (acting === exchange.caller) return;
  exchange.caller = acting;
  exchange.language = languageFor(exchange.request, acting);
}

function methodOf({ method = 'GET' }: IncomingMessage): string {
  return method === 'HEAD' ? 'GET' : method;
}

function textOf(exchange: Exchange, answer: unknown): string | Buffer | undefined {
  if (answer instanceof Created) {
    exchange.headers.push('location', answer.location);
    return textOf(exchange, answer.body);
  }
  if (answer instanceof Json) return answer.text;
  return answer === undefined ? undefined : JSON.stringify(answer);
}

const JSON_TYPES = /(?:^|[\s,])(?:application\/(?:json|\*|[a-z0-9.-]+\+json)|\*\/\*|text\/json)/i;

function requireJsonWished({ headers }: IncomingMessage): void {
  if (headers.accept && !JSON_TYPES.test(headers.accept)) throw new ApiError('JSON_RESPONSE_ONLY');
}
