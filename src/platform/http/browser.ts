import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { App } from '../app.ts';
import type { Environment } from '../config/addresses.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Exchange } from './exchange.ts';

// What pages know of a browser: its cookies, and whether a form came from one of our pages.

const SECRET = /^[A-Za-z0-9_-]{43}$/;
const VISIT_SECONDS = 86_400;
const BROWSER_SECONDS = 365 * 86_400;

export interface Cookies {
  readonly visit: string | undefined;
  readonly browser: string | undefined;
  readonly session: string | undefined;
}

/** The browser's ids, from its cookies or newly generated. */
export interface Names {
  readonly visit: string;
  readonly browser: string;
}

/** Accepts a form only from our own page, in the browser that loaded the page. */
export function requireOwnForm({ request, tenant }: Exchange, token: string | undefined, visit: string): void {
  if (isForeign(request) || !isOwnFormToken(tenant.app, visit, token)) throw new ApiError('INVALID_CSRF_TOKEN');
}

/**
 * The token that forms in this browser send back. It is masked with new random bytes each time, because the size of a
 * compressed page would otherwise give it away (BREACH).
 */
export function formToken({ secrets }: App, visit: string): string {
  const token = Buffer.from(secrets.sign('csrf', visit), 'base64url');
  const mask = randomBytes(token.length);
  return Buffer.concat([mask, xor(mask, token)]).toString('base64url');
}

export function isOwnFormToken({ secrets }: App, visit: string, sent: string | undefined): boolean {
  const bytes = Buffer.from(sent ?? '', 'base64url');
  const half = bytes.length / 2;
  const token = xor(bytes.subarray(0, half), bytes.subarray(half));
  return secrets.verify('csrf', visit, token.toString('base64url'));
}

const xor = (one: Buffer, other: Buffer): Buffer => Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));

/**
 * Our pages send no referrer, so browsers send `Origin: null` with their forms and only `Sec-Fetch-Site` shows that
 * they are ours.
 */
export function isForeign({ headers: { origin, host, 'sec-fetch-site': site } }: IncomingMessage): boolean {
  if (site !== undefined && site !== 'same-origin') return true;
  const isHidden = origin === 'null' && site === 'same-origin';
  return origin !== undefined && !isHidden && origin !== `https://${host}`;
}

/** `__Host-` binds a cookie to this host and to HTTPS; the sandbox uses other names. */
const cookieName = (environment: Environment, kind: keyof Cookies): string =>
  `__Host-modstead_${environment === 'sandbox' ? 'test_' : ''}${kind}`;

export function cookiesOf({ headers }: IncomingMessage, environment: Environment): Cookies {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const textOf = (kind: keyof Cookies) => {
    const value = pairs.find(([name]) => name === cookieName(environment, kind))?.[1];
    return value !== undefined && SECRET.test(value) ? value : undefined;
  };
  return { visit: textOf('visit'), browser: textOf('browser'), session: textOf('session') };
}

const setCookie = (environment: Environment, kind: keyof Cookies, value: string, seconds: number): string =>
  `${cookieName(environment, kind)}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`;

interface SentCookies {
  /** A new session, or null to end it. Either also replaces the `visit` id. */
  readonly session?: { readonly secret: string; readonly seconds: number } | null;
  /** A body other than HTML, which needs no visit. */
  readonly text?: unknown;
}

export function cookieHeaders(
  exchange: Exchange,
  { visit, browser }: Names,
  known: Cookies,
  { session, text }: SentCookies,
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
