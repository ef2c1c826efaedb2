import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { reachOf } from '../access/admission.ts';
import type { Caller, Submission } from '../access/caller.ts';
import type { Settings } from '../config/settings.ts';
import type { ListRequest } from '../database/listing.ts';
import { ApiError, type FieldProblem } from '../errors/catalogue.ts';
import { contentLanguageOf } from '../localisation/languages.ts';
import { limitedAddress, peerOf } from './address.ts';
import { basicOf, type Exchange } from './exchange.ts';
import { idOf, PathId } from './objects.ts';
import type { AnyOperation, Input } from './operation.ts';
import type { Payload } from './payload.ts';
import { validate } from './request/coerce.ts';
import type { Fields } from './request/forms.ts';
import { readList } from './request/list.ts';
import { namesWithInvisibles } from './request/names.ts';
import { illFormedFields } from './request/utf8.ts';
import { ownHeader, platformOf, portalOf } from './targeting.ts';

export type AnyInput = Input<unknown, unknown, unknown>;

/** A request's path, query and payload, parsed but not yet validated. */
export interface ParsedRequest {
  readonly params: unknown;
  readonly query: Fields;
  readonly payload: Payload;
}

const NOTHING: Fields = Object.freeze(Object.create(null));
const NO_HEADERS: AnyInput['headers'] = Object.freeze({});
const NO_LIST = { groups: [], words: [], sort: undefined, limit: 100, offset: 0 };

/** Builds the handler's input. One error names every invalid field, wherever it was sent. */
export function inputOf(
  settings: Settings,
  exchange: Exchange,
  { declaration }: AnyOperation,
  { params, query, payload }: ParsedRequest,
  caching: Pick<AnyInput, 'cache' | 'cacheUntil'>,
): AnyInput {
  const { headers } = exchange.request;
  const problems: FieldProblem[] = [
    ...payload.problems,
    ...(declaration.query || declaration.list ? illFormedFields(query) : []),
    ...(declaration.body ? illFormedFields(payload.fields) : []),
  ];
  // A list operation with a body also takes its filters from there.
  const listed = declaration.body ? payload.fields : query;
  const checked = {
    query: declaration.query ? gather(problems, () => validate(declaration.query!, query)) : NOTHING,
    list: declaration.list ? gather(problems, () => withinReach(exchange, declaration, listed)) : NO_LIST,
    body: declaration.body ? gather(problems, () => validate(declaration.body!, payload.fields)) : NOTHING,
  };
  problems.push(...namesWithInvisibles((checked.body ?? NOTHING) as Record<string, unknown>));
  if (problems.length > 0) throw new ApiError('VALIDATION_GENERIC', { fields: problems });
  return {
    caller: callerOf(settings, exchange, declaration, checked.body, payload),
    params,
    query: checked.query,
    body: checked.body,
    files: payload.files,
    uploads: payload.uploads,
    raw: payload.raw,
    headers: declaration.headers ? ownHeaders(Object.keys(declaration.headers), headers) : NO_HEADERS,
    list: checked.list ?? NO_LIST,
    language: exchange.language,
    contentLanguage: contentLanguageOf(headers['content-language']) ?? 'en',
    platform: platformOf(ownHeader(headers, settings.headerPrefixes, 'platform')),
    portal: portalOf(ownHeader(headers, settings.headerPrefixes, 'portal')),
    ip: exchange.ip,
    basic: basicOf(exchange.request),
    delegationToken: ownHeader(headers, settings.headerPrefixes, 'delegation-token'),
    hostGameId: exchange.scope.gameId,
    ...caching,
  };
}

/** Values beyond the default limits may be within the game's own, which are loaded only then. */
export async function inputWithin(...[settings, exchange, operation, parsed, keeping]: Parameters<typeof inputOf>) {
  try {
    return inputOf(settings, exchange, operation, parsed, keeping);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { declaration } = operation;
    const body = await declaration.ownBody!(exchange.tenant.app, exchange.caller, parsed.params);
    return inputOf(settings, exchange, { declaration: { ...declaration, body } }, parsed, keeping);
  }
}

/** An application that is authorised for one game sees only that game's part of a user's lists. */
function withinReach({ caller }: Exchange, { list, params }: AnyOperation['declaration'], sent: Fields): ListRequest {
  const request = readList(list!, sent);
  const reach = reachOf(caller);
  const name = list!.game ?? 'game_id';
  const column = list!.columns[name];
  if (reach === undefined || !column || params?.shape['game_id']) return request;
  return {
    ...request,
    groups: [...request.groups, [{ column: { ...column, name }, operator: 'eq', values: [reach] }]],
  };
}

/** Headers that rules may read: where the request comes from, but no credentials. */
const RULED_HEADERS =
  /^(?:user-agent|accept-language|content-language|origin|referer|x-[a-z]+-(?:origin|platform|portal))$/;

/** Adds the request's origin to a writing caller, and the submission where a game's rules apply. */
function callerOf(
  settings: Settings,
  { caller, request, ip }: Exchange,
  { id, rules }: AnyOperation['declaration'],
  fields: unknown,
  payload: Payload,
): Caller {
  if (caller.kind !== 'user' || request.method === 'GET' || request.method === 'HEAD') return caller;
  const platform = platformOf(ownHeader(request.headers, settings.headerPrefixes, 'platform'));
  const acting = { ...caller, address: limitedAddress(ip), platform };
  if (!rules) return acting;
  const headers = Object.entries(request.headers).filter(([name]) => RULED_HEADERS.test(name));
  const submission: Submission = {
    operation: id,
    fields: fields as Submission['fields'],
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    ip,
    country: countryOf(settings, request),
    files: payload.uploads,
  };
  return { ...acting, submission };
}

/** Proxies send `XX` or `T1` for an unknown country. */
const COUNTRY = /^(?!XX)[A-Z]{2}$/;

/** Trusted only from the operator's own proxies, because any client can send the header. */
function countryOf({ countryHeader, trustProxy }: Settings, { headers, socket }: IncomingMessage): string | undefined {
  if (countryHeader === undefined || !peerOf(socket, trustProxy).trusted) return undefined;
  const country = String(headers[countryHeader] ?? '').toUpperCase();
  return COUNTRY.test(country) ? country : undefined;
}

function ownHeaders(names: readonly string[], headers: IncomingHttpHeaders): AnyInput['headers'] {
  return Object.fromEntries(names.map((name) => [name, headers[name]?.toString()]));
}

/** Runs one check and collects its problems, so that later checks still run. */
function gather<T>(problems: FieldProblem[], check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ApiError) || !error.fields) throw error;
    problems.push(...error.fields);
    return undefined;
  }
}

/** A malformed id names nothing, so the error is "not found" rather than an invalid field. */
export function paramsOf({ declaration }: AnyOperation, raw: Record<string, string>): unknown {
  const { params } = declaration;
  if (!params) return NOTHING;
  const ids = idsIn(params);
  const read = ids ? readIds(ids, raw) : params.safeParse(raw).data;
  if (read === undefined) throw new ApiError('RESOURCE_NOT_FOUND');
  return read;
}

const namesOfIds = new WeakMap<z.ZodObject, readonly string[] | false>();

/** The names of the path's ids, if it has no other parameters: such paths need no schema to be parsed. */
function idsIn(params: z.ZodObject): readonly string[] | false {
  const known = namesOfIds.get(params);
  if (known !== undefined) return known;
  const names = Object.values(params.shape).every((field) => field === PathId) && Object.keys(params.shape);
  namesOfIds.set(params, names);
  return names;
}

function readIds(names: readonly string[], raw: Record<string, string>): Record<string, number> | undefined {
  const ids: Record<string, number> = {};
  for (const name of names) {
    const id = idOf(raw[name]!);
    if (id === undefined) return undefined;
    ids[name] = id;
  }
  return ids;
}
