import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Caller, NOBODY } from '../access/caller.ts';
import type { App } from '../app.ts';
import { type Environment, isSiteHost } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import { type Language, languageOf } from '../localisation/languages.ts';
import { toApiError } from './answer.ts';
import { cookieHeaders, cookiesOf, formToken, isForeign, isOwnFormToken } from './browser.ts';
import { type Exchange, hasBody } from './exchange.ts';
import type { Freshness } from './freshness.ts';
import type { Html } from './html.ts';
import { SYSTEM_ROUTE } from './outcome.ts';
import type { NewPage, PageCache } from './page-cache.ts';
import { contentTypeOf } from './request/body.ts';
import { acceptsGzip } from './response-cache.ts';
import { CONTENT_HEADERS, SECURITY_HEADERS } from './security-headers.ts';

/** What the site's code gets from the service with each request; `site/src/app.d.ts` declares the same shape. */
export interface SitePlatform {
  readonly origin: string;
  readonly environment: Environment;
  /** Pages for developers are shown. */
  readonly isDevelopment: boolean;
  readonly language: Language;
  readonly isSignedIn: boolean;
  /** The token that every form sends back as `csrf`. */
  readonly formToken: string;
  /** Checks the token of a form. Requests that change something are possible only after it was right. */
  confirmForm(token: string | undefined): boolean;
  /** Calls the API inside the process, as the visitor. */
  fetch(request: Request): Promise<Response>;
  /** Reports the address pattern of the page, for the metrics. */
  nameRoute(id: string | null): void;
}

/** The output of `npm run site`. */
interface Build {
  /** The files for browsers; true for those with compressed copies. */
  readonly assets: ReadonlyMap<string, boolean>;
  readonly server: {
    init(options: { env: object; read(file: string): unknown }): Promise<void>;
    respond(request: Request, options: { platform: SitePlatform; getClientAddress(): string }): Promise<Response>;
  };
}

export interface SiteParts {
  readonly settings: Settings;
  /** The folder of the build. */
  readonly folder: string;
  readonly findVisitor: (app: App, session: string | undefined) => Promise<Caller | undefined>;
  readonly errorPage: (app: App, error: ApiError, language: Language) => Promise<Html>;
}

/** Answers a request that a page makes inside the process. */
export type AnswerInside = (
  page: Exchange,
  request: Request,
  visitor: Caller,
) => Promise<{ readonly response: Response; readonly freshness: Freshness | undefined }>;

/** Answers if the request is to the site's own host, and resolves to the name of the page for the metrics. */
export type SiteHandling = (
  exchange: Exchange,
  answerInside: AnswerInside,
  cache: PageCache,
) => Promise<string> | undefined;

export function createSite({ settings, folder, findVisitor, errorPage }: SiteParts): SiteHandling {
  // Loaded with the first request, because an API without visitors should not pay for it.
  let build: Promise<Build> | undefined;
  const load = () => {
    build ??= loadBuild(folder).catch((error) => {
      build = undefined;
      throw error;
    });
    return build;
  };

  async function answer(exchange: Exchange, answerInside: AnswerInside, cache: PageCache): Promise<string> {
    try {
      const { assets, server } = await load();
      const isCompressed = assets.get(exchange.path);
      if (isCompressed !== undefined) return await sendAsset(exchange, join(folder, 'client'), isCompressed);
      return await cache.renderOnce(exchange, (share) => answerPage(exchange, server, answerInside, cache, share));
    } catch (cause) {
      await sendError(exchange, toApiError(cause));
      return 'site';
    }
  }

  async function answerPage(
    exchange: Exchange,
    server: Build['server'],
    answerInside: AnswerInside,
    cache: PageCache,
    share: () => void,
  ): Promise<string> {
    const { request, scope, tenant, ip } = exchange;
    const cookies = cookiesOf(request, scope.environment);
    exchange.findVisitor = () => findVisitor(tenant.app, cookies.session);
    const visitor = (await exchange.findVisitor()) ?? NOBODY;
    // A visitor who is known has chosen a language, wherever their browser comes from.
    if (visitor.kind === 'user') exchange.language = languageOf(visitor.language) ?? exchange.language;
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
    if (isWrite) requireAcceptable(exchange, visitor);
    const names = { visit: cookies.visit ?? tenant.app.random.token(), browser: cookies.browser ?? '' };
    const reads: (Freshness | undefined)[] = [];
    let needsVisit = false;
    let isConfirmed = false;
    let route: string | null = null;
    const platform: SitePlatform = {
      origin: tenant.app.addresses.site,
      environment: scope.environment,
      isDevelopment: settings.log === 'debug',
      language: exchange.language,
      isSignedIn: visitor !== NOBODY,
      get formToken() {
        needsVisit = true;
        return formToken(tenant.app, names.visit);
      },
      nameRoute: (id) => {
        route = id;
      },
      confirmForm: (token) => (isConfirmed = isWrite && isOwnFormToken(tenant.app, names.visit, token)),
      fetch: async (asked) => {
        if (asked.method !== 'GET' && asked.method !== 'HEAD' && !isConfirmed)
          throw new Error(`A page changes something before its form was confirmed: ${asked.method} ${asked.url}`);
        const { response, freshness } = await answerInside(exchange, asked, visitor);
        reads.push(freshness);
        return response;
      },
    };
    const answer = await server.respond(requestOf(exchange), { platform, getClientAddress: () => ip });
    const name = `site ${route ?? 'none'}`;
    if (isEventStream(answer)) share();
    const sent = await send(exchange, answer, needsVisit ? cookieHeaders(exchange, names, cookies, {}) : []);
    const isForAll = visitor === NOBODY && !needsVisit && answer.status === 200;
    if (sent && isForAll && !answer.headers.has('set-cookie')) cache.store(exchange, { route: name, ...sent }, reads);
    return name;
  }

  async function sendError(exchange: Exchange, error: ApiError): Promise<void> {
    const { tenant, request, response, language, path, id } = exchange;
    if (error.status >= 500) tenant.app.log.error('page failed', { request: id, path, error: error.cause });
    if (response.headersSent) return void response.destroy();
    if (hasBody(request) && !request.complete) response.shouldKeepAlive = false;
    if (error.retryAfterSeconds !== undefined) exchange.headers.push('retry-after', String(error.retryAfterSeconds));
    const bytes = Buffer.from((await errorPage(tenant.app, error, language)).text);
    response.writeHead(error.status, [
      ...PAGE_HEADERS,
      'content-type',
      'text/html; charset=utf-8',
      'content-length',
      String(bytes.length),
      'content-security-policy',
      "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
      'cache-control',
      'no-store',
      ...exchange.headers,
    ]);
    response.end(bytes);
  }

  return (exchange, answerInside, cache) =>
    isSiteHost(exchange.request.headers.host, settings.domain) ? answer(exchange, answerInside, cache) : undefined;
}

async function loadBuild(folder: string): Promise<Build> {
  const assets = JSON.parse(readFileSync(join(folder, 'assets.json'), 'utf8')) as Record<string, boolean>;
  const { server } = (await import(pathToFileURL(join(folder, 'server/server.js')).href)) as Pick<Build, 'server'>;
  await server.init({ env: {}, read: (file) => readFileSync(join(folder, 'client', file)) });
  return { assets: new Map(Object.entries(assets)), server };
}

const PAGE_HEADERS = ['x-frame-options', 'DENY', ...SECURITY_HEADERS];

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

const ENCODINGS = [
  ['br', /(^|[\s,])br\s*($|,)/i],
  ['gz', /(^|[\s,])gzip\s*($|,)/i],
] as const;

function cachingOf(path: string): string {
  // Their names change with their content.
  if (path.startsWith('/_app/immutable/')) return 'public, max-age=31536000, immutable';
  // Open pages ask for it to learn of a newer site.
  return path === '/_app/version.json' ? 'no-cache' : 'public, max-age=3600';
}

async function sendAsset(exchange: Exchange, folder: string, isCompressed: boolean): Promise<string> {
  const { request, response, path } = exchange;
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new ApiError('METHOD_NOT_ALLOWED');
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const coding = isCompressed ? ENCODINGS.find(([, pattern]) => pattern.test(accepted))?.[0] : undefined;
  const bytes = await readFile(join(folder, coding ? `${path}.${coding}` : path));
  response.writeHead(200, [
    'content-type',
    TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    'content-length',
    String(bytes.length),
    'cache-control',
    cachingOf(path),
    'vary',
    'accept-encoding',
    ...(coding ? ['content-encoding', coding === 'gz' ? 'gzip' : coding] : []),
    ...CONTENT_HEADERS,
    ...exchange.headers,
  ]);
  response.end(bytes);
  return SYSTEM_ROUTE;
}

const FORM_BYTES_MAX = { user: 16 * 1024 * 1024, visitor: 64 * 1024 };
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain', 'application/json'];

/** Forms are read into memory, so their size is bounded; other bodies stream to the API, which has its own limits. */
function requireAcceptable({ request }: Exchange, visitor: Caller): void {
  if (isForeign(request)) throw new ApiError('INVALID_CSRF_TOKEN');
  if (!hasBody(request)) return;
  const bytes = Number(request.headers['content-length'] ?? Number.NaN);
  const max = visitor === NOBODY ? FORM_BYTES_MAX.visitor : FORM_BYTES_MAX.user;
  const isForm = FORM_TYPES.includes(contentTypeOf(request.headers['content-type'])?.type ?? 'text/plain');
  if ((isForm || visitor === NOBODY) && !(bytes <= max))
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'body', rule: 'body_max', values: { max: `${max / 1024} KB` } }],
    });
}

/** Headers that the site's code has no use for. It never sees a credential. */
const HIDDEN = new Set(['authorization', 'connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect']);

function requestOf({ request, response, tenant, path, search }: Exchange): Request {
  const { site } = tenant.app.addresses;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !HIDDEN.has(name)) headers.set(name, String(value));
  const cookies = (request.headers.cookie ?? '').split(/;\s*/).filter((pair) => !pair.startsWith('__Host-modstead_'));
  headers.set('cookie', cookies.join('; '));
  // Foreign origins were refused before, and browsers hide that of pages without a referrer.
  headers.set('origin', site);
  const gone = new AbortController();
  response.once('close', () => response.writableFinished || gone.abort());
  return new Request(`${site}${path}${search && `?${search}`}`, {
    method: request.method!,
    headers,
    signal: gone.signal,
    ...(hasBody(request) && { body: Readable.toWeb(request) as never, duplex: 'half' }),
  });
}

const COMPRESSED_BYTES_MIN = 1_024;
const compress = promisify(gzip);

const isEventStream = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/event-stream') === true;

/** Returns what another visitor may get as well; nothing for a stream. */
async function send(
  exchange: Exchange,
  answer: Response,
  cookies: readonly string[],
): Promise<Omit<NewPage, 'route'> | undefined> {
  const { request, response } = exchange;
  const headers = [...answer.headers].flatMap(([name, value]) => (name === 'content-length' ? [] : [name, value]));
  if (!answer.headers.has('cache-control')) headers.push('cache-control', 'private, no-store');
  const isFramed = answer.headers.get('content-security-policy')?.includes('frame-ancestors *') ?? false;
  const common = [...headers, ...(isFramed ? SECURITY_HEADERS : PAGE_HEADERS)];
  const sent = [...common, ...cookies, ...exchange.headers];
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false;
  if (isEventStream(answer) && answer.body) {
    exchange.isStream = true;
    response.writeHead(answer.status, sent);
    // The client ends such a response, so its end is no failure.
    await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => undefined);
    return undefined;
  }
  const plain = Buffer.from(await answer.arrayBuffer());
  const isSmaller =
    plain.length >= COMPRESSED_BYTES_MIN && acceptsGzip(String(request.headers['accept-encoding'] ?? ''));
  const bytes = isSmaller ? await compress(plain) : plain;
  const coding = isSmaller ? ['content-encoding', 'gzip'] : [];
  response.writeHead(answer.status, [
    ...sent,
    ...coding,
    'vary',
    'accept-encoding',
    'content-length',
    String(bytes.length),
  ]);
  response.end(bytes);
  return { headers: [...common, 'vary', 'accept-encoding'], plain, gzip: isSmaller ? bytes : undefined };
}
