import type { IncomingMessage } from 'node:http';
import type { App } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Language } from '../localisation/languages.ts';
import { toApiError } from './answer.ts';
import { type Cookies, cookieHeaders, cookiesOf, formToken, type Names, requireOwnForm } from './browser.ts';
import { type Exchange, hasBody } from './exchange.ts';
import type { Html } from './html.ts';
import type { Observe } from './outcome.ts';
import { takeForAddress, takeForPage } from './rate-limit-buckets.ts';
import { contentTypeOf, readText } from './request/body.ts';
import { type Fields, parseForm } from './request/forms.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Everything that a page handler can see of a request. */
export interface PageRequest {
  readonly search: string;
  /** The number at the end of the path, if the page has one. */
  readonly id: number | undefined;
  /** The decoded path segments, by `{name}`. */
  readonly params: Texts;
  readonly query: Texts;
  readonly form: Texts;
  readonly language: Language;
  readonly userAgent: string;
  /** Identifies this browser, signed in or not. */
  readonly visit: string;
  /** Identifies this browser for a year after its first sign-in, and gives it its own rate limits. */
  readonly browser: string;
  readonly ip: string;
  /** The session secret, if there is one. */
  readonly session: string | undefined;
  /** The token that every form must send back as `csrf`. */
  readonly csrf: string;
}

/** Text fields; pages accept no lists or nested values. */
export type Texts = Readonly<Record<string, string | undefined>>;

export interface PageAnswer {
  readonly status: number;
  readonly html?: Html | Promise<Html>;
  /** A body other than HTML. */
  readonly text?: { readonly type: string; readonly body: string };
  readonly location?: string;
  /** A new session, or null to end it. Either also replaces the `visit` id. */
  readonly session?: { readonly secret: string; readonly seconds: number } | null;
  /** Further CSP `form-action` sources. */
  readonly formTargets?: readonly string[];
  /** The page loads a script of ours. */
  readonly hasScript?: boolean;
  /** The page is a mail, which has its styles in its elements. */
  readonly isMail?: boolean;
}

type Handler = (app: App, request: PageRequest) => PageAnswer | Promise<PageAnswer>;

/** An HTML page, or a file that belongs to one. Only pages use cookies; operations never do. */
export interface Page {
  /** Also names its rate limit. */
  readonly id: string;
  /** May end with `/{id}`, which matches a number; any other `{name}` matches one segment. */
  readonly path: string;
  /** Where the error page leads to start over. */
  readonly anew?: string;
  /** Form submissions per minute from one address. */
  readonly limit?: number;
  readonly get?: Handler;
  readonly post?: Handler;
  /**
   * Handles one-click unsubscription (RFC 8058). Mail programs send no cookies and no CSRF token, so the address alone
   * must authorise it.
   */
  readonly oneClick?: Handler;
}

export interface PagesParts {
  readonly settings: Settings;
  readonly pages: readonly Page[];
  readonly errorPage: (app: App, error: ApiError, language: Language, anew?: string) => Promise<Html>;
  readonly observe?: Observe | undefined;
}

/** Answers if the path is a page's, and resolves to the page's id. */
export type PageHandling = (exchange: Exchange) => Promise<string> | undefined;

const FORM_BYTES_MAX = 16 * 1024;
const NUMBER = /\/([1-9]\d{0,14})$/;

export function createPages({ settings, pages, errorPage, observe }: PagesParts): PageHandling {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const named = pages.filter(({ path }) => NAMED.test(path)).map((page) => ({ page, pattern: patternOf(page.path) }));
  const answer = async (exchange: Exchange, page: Page, params: Texts): Promise<string> => {
    const { path, scope, tenant, request } = exchange;
    const cookies = cookiesOf(request, scope.environment);
    const names: Names = {
      visit: cookies.visit ?? tenant.app.random.token(),
      browser: cookies.browser ?? tenant.app.random.token(),
    };
    try {
      const handler = handlerOf(exchange, page);
      await takeForAddress(settings.rateLimits, exchange, request.method === 'POST');
      if (request.method === 'POST') await takeForPage(settings.rateLimits, exchange, page);
      const form = request.method === 'POST' ? await readForm(request, page) : {};
      const oneClick = isOneClick(form) ? page.oneClick : undefined;
      if (request.method === 'POST' && !oneClick) requireOwnForm(exchange, form['csrf'], names.visit);
      const answer = await (oneClick ?? handler)(tenant.app, requestOf(exchange, cookies, names, { form, params }));
      await send(exchange, names, cookies, answer);
    } catch (cause) {
      const error = toApiError(cause);
      if (error.status >= 500) tenant.app.log.error('page failed', { request: exchange.id, path, error: error.cause });
      observe?.({ operation: undefined, status: error.status, body: undefined, error });
      if (error.retryAfterSeconds !== undefined) exchange.headers.push('retry-after', String(error.retryAfterSeconds));
      if (hasBody(request) && !request.complete) exchange.response.shouldKeepAlive = false;
      const html = errorPage(tenant.app, error, exchange.language, page.anew);
      await send(exchange, names, cookies, { status: error.status, html });
    }
    return page.id;
  };
  return (exchange) => {
    const { path, scope } = exchange;
    if (scope.gameId !== undefined || scope.userId !== undefined || path.startsWith('/v1/')) return undefined;
    const page = byPath.get(path) ?? byPath.get(path.replace(NUMBER, '/{id}'));
    if (page) return answer(exchange, page, {});
    for (const { page, pattern } of named) {
      const params = paramsOf(pattern.exec(path));
      if (params) return answer(exchange, page, params);
    }
    return undefined;
  };
}

const NAMED = /\{(?!id\})(\w+)\}/;

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(new RegExp(NAMED, 'g'), '(?<$1>[^/]+)')}/?$`);

/** Undefined when the path does not match or is not UTF-8. */
function paramsOf(found: RegExpExecArray | null): Texts | undefined {
  if (!found) return undefined;
  try {
    return Object.fromEntries(
      Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]),
    );
  } catch {
    return undefined;
  }
}

function handlerOf(exchange: Exchange, page: Page): Handler {
  const { method } = exchange.request;
  const handler = method === 'POST' ? page.post : method === 'GET' || method === 'HEAD' ? page.get : undefined;
  if (handler) return handler;
  exchange.headers.push('allow', [...(page.get ? ['GET', 'HEAD'] : []), ...(page.post ? ['POST'] : [])].join(', '));
  throw new ApiError('METHOD_NOT_ALLOWED');
}

function requestOf(
  exchange: Exchange,
  { session }: Cookies,
  { visit, browser }: Names,
  { form, params }: Pick<PageRequest, 'form' | 'params'>,
): PageRequest {
  const { request, tenant, path, search, language, ip } = exchange;
  const csrf = formToken(tenant.app, visit);
  const userAgent = request.headers['user-agent'] ?? '';
  const [, number] = NUMBER.exec(path) ?? [];
  const id = number === undefined ? undefined : Number(number);
  return {
    search,
    id,
    params,
    query: textsOf(parseForm(search)),
    form,
    language,
    userAgent,
    visit,
    browser,
    ip,
    session,
    csrf,
  };
}

const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' };
const isOneClick = (form: Texts): boolean => form['List-Unsubscribe'] === ONE_CLICK['List-Unsubscribe'];
const ONE_CLICK_PART = /name="?List-Unsubscribe"?[^\r\n]{0,100}\r?\n(?:[^\r\n]{1,200}\r?\n){0,3}\r?\nOne-Click\s/i;

async function readForm(request: IncomingMessage, { oneClick }: Page): Promise<Texts> {
  const type = contentTypeOf(request.headers['content-type'])?.type;
  // Mail programs send either encoding; only the one-click field matters.
  if (oneClick && type === 'multipart/form-data')
    return ONE_CLICK_PART.test(await readText(request, FORM_BYTES_MAX)) ? ONE_CLICK : {};
  if (type !== 'application/x-www-form-urlencoded') throw new ApiError('INCORRECT_CONTENT_TYPE');
  return textsOf(parseForm(await readText(request, FORM_BYTES_MAX)));
}

const textsOf = (fields: Fields): Texts =>
  Object.fromEntries(
    Object.entries(fields)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([name, text]) => [name, text.toWellFormed()]),
  );

const policyOf = ({ formTargets = [], hasScript, isMail }: PageAnswer): string =>
  [
    "default-src 'none'",
    ...(hasScript ? ["script-src 'self'"] : []),
    `style-src ${isMail ? "'unsafe-inline'" : "'self'"}`,
    "img-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

async function send(exchange: Exchange, names: Names, cookies: Cookies, answer: PageAnswer): Promise<void> {
  const { response, headers } = exchange;
  const bytes = Buffer.from((await answer.html)?.text ?? answer.text?.body ?? '');
  response.writeHead(answer.status, [
    'content-type',
    answer.text?.type ?? 'text/html; charset=utf-8',
    'content-length',
    String(bytes.length),
    'cache-control',
    answer.text ? 'public, max-age=300' : 'no-store',
    'content-security-policy',
    policyOf(answer),
    'x-frame-options',
    'DENY',
    ...SECURITY_HEADERS,
    ...(answer.location === undefined ? [] : ['location', answer.location]),
    ...cookieHeaders(exchange, names, cookies, answer),
    ...headers,
  ]);
  response.end(bytes);
}
