import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from '../access/authenticate.ts';
import { type Caller, NOBODY } from '../access/caller.ts';
import type { Gate } from '../access/gate.ts';
import type { App } from '../app.ts';
import { type Environment, type HostScope, hostScope } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import type { Limiter } from '../limits/limits.ts';
import { type Language, languageOf, negotiate } from '../localisation/languages.ts';
import type { TracedRequest } from '../telemetry/telemetry.ts';
import { clientAddress, peerOf } from './address.ts';
import type { Freshness } from './freshness.ts';
import type { AnyOperation } from './operation.ts';

/** One environment (production or sandbox) with what the server needs of it. */
export interface Tenant {
  readonly app: App;
  readonly authenticator: Authenticator;
  readonly gate: Gate;
  readonly limiter: Limiter | undefined;
}

/** Rejects requests that did not pass the access proxy in front of the site. */
export type AccessCheck = (app: App, request: IncomingMessage) => Promise<void>;

export type Tenants = Readonly<Record<Environment, Tenant>>;

/** One request and everything known about it until its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  readonly started: number;
  /** The request came over TLS, to this process or to a trusted proxy. */
  readonly secure: boolean;
  readonly path: string;
  readonly search: string;
  readonly scope: HostScope;
  readonly tenant: Tenant;
  readonly ip: string;
  /** Response headers in addition to `COMMON_HEADERS`. */
  readonly headers: string[];
  language: Language;
  caller: Caller;
  operation: AnyOperation | undefined;
  /** Set inside the process alone: the caller of a request that one of the site's pages makes. */
  readonly visitor?: Caller;
  /** Looks the visitor of a page up again, because a stream can last longer than their session. */
  findVisitor?: (() => Promise<Caller | undefined>) | undefined;
  /** A page answers with a stream, which lasts until the visitor leaves. */
  isStream?: boolean;
  /** Set if requests are traced. */
  trace?: TracedRequest;
  /** How long the response stays true, if it can be cached. */
  freshness?: Freshness | undefined;
  /** The caller was known at once, and there was no cached response for them. */
  isUncached?: boolean;
}

export interface Exchanges {
  nextId(): string;
  begin(request: IncomingMessage, response: ServerResponse, id: string, started: number): Exchange;
}

export function createExchanges(settings: Settings, tenants: Tenants): Exchanges {
  const runId = tenants.production.app.random.hex(8);
  let requests = 0;
  const nextId = () => `${runId}-${(++requests).toString(36)}`;
  const begin: Exchanges['begin'] = (request, response, id, started) => {
    const { host, path, search } = targetOf(request);
    const scope = hostScope(host, settings.domain);
    return {
      request,
      response,
      id,
      started,
      secure: isSecure(request, settings),
      path,
      search,
      scope,
      tenant: tenants[scope.environment],
      ip: clientAddress(request, settings.trustProxy),
      headers: ['x-request-id', id],
      language: languageFor(request, NOBODY),
      caller: NOBODY,
      operation: undefined,
    };
  };
  return { nextId, begin };
}

interface Target {
  readonly host: string | undefined;
  readonly path: string;
  readonly search: string;
}

function targetOf({ url = '/', headers }: IncomingMessage): Target {
  if (!url.startsWith('/')) return targetOfAbsolute(url, headers.host);
  const mark = url.indexOf('?');
  if (mark === -1) return { host: headers.host, path: url, search: '' };
  return { host: headers.host, path: url.slice(0, mark), search: withOneMark(url.slice(mark + 1)) };
}

/** In `GET https://host/path` the host of the target counts (RFC 9112, 3.2.2). */
function targetOfAbsolute(url: string, host: string | undefined): Target {
  const parsed = /^https?:/i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed) return { host, path: url, search: '' };
  return { host: parsed.host, path: parsed.pathname, search: withOneMark(parsed.search.slice(1)) };
}

/** Unity appends `?api_key=` to addresses that have a query already (docs/API-QUIRKS.md, 7). */
const withOneMark = (search: string): string => search.replace('?api_key=', '&api_key=');

function isSecure({ socket, headers }: IncomingMessage, { trustProxy }: Settings): boolean {
  const peer = peerOf(socket, trustProxy);
  return peer.encrypted || (peer.trusted && headers['x-forwarded-proto'] === 'https');
}

/** `Accept-Language` first, then the language of the caller's profile, then English. */
export function languageFor({ headers }: IncomingMessage, caller: Caller): Language {
  const profile = caller.kind === 'user' || caller.kind === 'key' ? caller.language : undefined;
  return negotiate(headers['accept-language']) ?? languageOf(profile) ?? 'en';
}

/** An empty bearer counts as none (docs/API-QUIRKS.md, 8). */
export function bearerOf({ headers }: IncomingMessage): string | undefined {
  const header = headers.authorization;
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  return header.slice(7).trim() || undefined;
}

/** Name and password are form-encoded before they are joined (RFC 6749, section 2.3.1). */
export function basicOf({ headers }: IncomingMessage): { name: string; password: string } | undefined {
  if (headers.authorization === undefined) return undefined;
  const encoded = /^basic ([a-z0-9+/=_-]{1,4000})$/i.exec(headers.authorization)?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon === -1) return undefined;
  return { name: formDecoded(text.slice(0, colon)), password: formDecoded(text.slice(colon + 1)) };
}

const formDecoded = (text: string): string => new URLSearchParams(`a=${text.replaceAll('&', '%26')}`).get('a')!;

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** True when a proxy and this server cannot disagree about the request's host or its end (RFC 9112, 3.2 and 6.1). */
export function isUnambiguous({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (isHost(rawHeaders[i]!)) hosts += 1;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return false;
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

const isHost = (name: string) => name.length === 4 && name.toLowerCase() === 'host';
