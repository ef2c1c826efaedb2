import type { IncomingMessage } from 'node:http';
import type { App } from '../app.ts';
import type { Environment } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Language } from '../localisation/languages.ts';
import { toApiError } from './answer.ts';
import { takeForAddress, takeForPage } from './demands.ts';
import { type Exchange, hasBody } from './exchange.ts';
import type { Html } from './html.ts';
import type { Observe } from './outcome.ts';
import { contentTypeOf, readText } from './request/body.ts';
import { type Fields, parseForm } from './request/forms.ts';

/** What a page gets to know of a request. */
export interface PageRequest {
  readonly search: string;
  /** The number at the end of the path, where the page has one. */
  readonly id: number | undefined;
  /** What stands in the path for `{name}`, decoded. */
  readonly params: Texts;
  readonly query: Texts;
  readonly form: Texts;
  readonly language: Language;
  readonly userAgent: string;
  /** Names this browser, whether or not anyone is signed in. */
  readonly visit: string;
  /** Names this browser for a year, from its first sign-in on: it then has limits of its own. */
  readonly browser: string;
  readonly ip: string;
  /** The secret of the session, if there is one. */
  readonly session: string | undefined;
  /** What every form has to bring back as `csrf`. */
  readonly csrf: string;
}

/** Fields that came as text; lists and nested ones are no input of a page. */
export type Texts = Readonly<Record<string, string | undefined>>;

export interface PageAnswer {
  readonly status: number;
  readonly html?: Html;
  /** A body that is no HTML. */
  readonly text?: { readonly type: string; readonly body: string };
  readonly location?: string;
  /** A new session, or null to end it. The browser counts as another one from then on. */
  readonly session?: { readonly secret: string; readonly seconds: number } | null;
  /** Where a form may lead besides this site, as sources of a content security policy. */
  readonly formTargets?: readonly string[];
  /** The page is of no use without a script, which is a file of ours. */
  readonly hasScript?: boolean;
}

type Handler = (app: App, request: PageRequest) => PageAnswer | Promise<PageAnswer>;

/** A page for people, or what belongs to one. It is beside the operations: cookies count here, and nowhere else. */
export interface Page {
  /** Also the name of its limit. */
  readonly id: string;
  /** May end with `/{id}`, which stands for a number; any other `{name}` stands for one segment. */
  readonly path: string;
  /** Where people can begin anew when it went wrong. */
  readonly anew?: string;
  /** Forms sent per minute from one address. */
  readonly limit?: number;
  readonly get?: Handler;
  readonly post?: Handler;
  /**
   * What a mail program posts for its reader (RFC 8058). It comes without cookies and from no page of ours: what the
   * address holds has to be enough.
   */
  readonly oneClick?: Handler;
}

export interface PagesParts {
  readonly settings: Settings;
  readonly pages: readonly Page[];
  readonly errorPage: (app: App, error: ApiError, language: Language, anew?: string) => Html;
  readonly observe?: Observe | undefined;
}

/** Answers where a page is, and tells which; nothing where there is none. */
export type PageHandling = (exchange: Exchange) => Promise<string> | undefined;

const FORM_BYTES_MAX = 16 * 1024;
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const NUMBER = /\/([1-9]\d{0,14})$/;
const VISIT_SECONDS = 86_400;
const BROWSER_SECONDS = 365 * 86_400;

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
      send(exchange, names, cookies, answer);
    } catch (cause) {
      const error = toApiError(cause);
      if (error.status >= 500) tenant.app.log.error('page failed', { request: exchange.id, path, error: error.cause });
      observe?.({ operation: undefined, status: error.status, body: undefined, error });
      if (error.retryAfterSeconds !== undefined) exchange.headers.push('retry-after', String(error.retryAfterSeconds));
      if (hasBody(request) && !request.complete) exchange.response.shouldKeepAlive = false;
      const html = errorPage(tenant.app, error, exchange.language, page.anew);
      send(exchange, names, cookies, { status: error.status, html });
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

/** Nothing where the path is another one, or is no UTF-8. */
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

interface Cookies {
  readonly visit: string | undefined;
  readonly browser: string | undefined;
  readonly session: string | undefined;
}

/** What this browser is called, by its cookies or from now on. */
interface Names {
  readonly visit: string;
  readonly browser: string;
}

function requestOf(
  exchange: Exchange,
  { session }: Cookies,
  { visit, browser }: Names,
  { form, params }: Pick<PageRequest, 'form' | 'params'>,
): PageRequest {
  const { request, tenant, path, search, language, ip } = exchange;
  const csrf = tenant.app.secrets.sign('csrf', visit);
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
  // Mail programs send either; of the parts the one matters, and whatever else there is does not.
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

/** A form counts only from a page of ours, in the browser that the page was given to. */
function requireOwnForm({ request, tenant }: Exchange, token: string | undefined, visit: string): void {
  if (isForeign(request) || !tenant.app.secrets.verify('csrf', visit, token ?? ''))
    throw new ApiError('INVALID_CSRF_TOKEN');
}

/** As no page tells where it is, browsers hide the origin of its forms as well, and tell only that it is the same. */
function isForeign({ headers: { origin, host, 'sec-fetch-site': site } }: IncomingMessage): boolean {
  if (site !== undefined && site !== 'same-origin') return true;
  const isHidden = origin === 'null' && site === 'same-origin';
  return origin !== undefined && !isHidden && origin !== `https://${host}`;
}

/** `__Host-` binds a cookie to this very host and to HTTPS; the sandbox has names of its own. */
const cookieName = (environment: Environment, kind: keyof Cookies): string =>
  `__Host-modstead_${environment === 'sandbox' ? 'test_' : ''}${kind}`;

function cookiesOf({ headers }: IncomingMessage, environment: Environment): Cookies {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const textOf = (kind: keyof Cookies) => {
    const value = pairs.find(([name]) => name === cookieName(environment, kind))?.[1];
    return value !== undefined && SECRET.test(value) ? value : undefined;
  };
  return { visit: textOf('visit'), browser: textOf('browser'), session: textOf('session') };
}

const setCookie = (environment: Environment, kind: keyof Cookies, value: string, seconds: number): string =>
  `${cookieName(environment, kind)}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;

function cookieHeaders(
  exchange: Exchange,
  { visit, browser }: Names,
  known: Cookies,
  { session, text }: PageAnswer,
): string[] {
  const { environment } = exchange.scope;
  const set = (kind: keyof Cookies, value: string, seconds: number) => [
    'set-cookie',
    setCookie(environment, kind, value, seconds),
  ];
  if (session === null) return [...set('session', '', 0), ...set('visit', '', 0)];
  if (session)
    return [
      ...set('session', session.secret, session.seconds),
      ...set('visit', exchange.tenant.app.random.token(), VISIT_SECONDS),
      ...set('browser', browser, BROWSER_SECONDS),
    ];
  return known.visit !== undefined || text ? [] : set('visit', visit, VISIT_SECONDS);
}

const policyOf = ({ formTargets = [], hasScript }: PageAnswer): string =>
  [
    "default-src 'none'",
    ...(hasScript ? ["script-src 'self'"] : []),
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

function send(exchange: Exchange, names: Names, cookies: Cookies, answer: PageAnswer): void {
  const { response, headers } = exchange;
  const bytes = Buffer.from(answer.html?.text ?? answer.text?.body ?? '');
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
    'x-content-type-options',
    'nosniff',
    'referrer-policy',
    'no-referrer',
    'strict-transport-security',
    'max-age=31536000',
    ...(answer.location === undefined ? [] : ['location', answer.location]),
    ...cookieHeaders(exchange, names, cookies, answer),
    ...headers,
  ]);
  response.end(bytes);
}
