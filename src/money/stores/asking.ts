import { EgressError, type EgressOptions } from '../../platform/egress/egress.ts';
import { addressOf, objectOf, stringOf } from '../../signin/portals/platform-requests.ts';
import { type Asking, type StorePortal, StoreRefusal, type StoreSettings, StoreUnavailable } from './adapter.ts';

const DEADLINE_MS = 10_000;
/** A list of purchases can be longer than the usual limit of a response. */
const BYTES_MAX = 2_097_152;
/** A store whose pages never end must not keep a request busy. */
const PAGES_MAX = 50;

export type Json = Readonly<Record<string, unknown>>;

export interface StoreAnswer {
  readonly status: number;
  readonly ok: boolean;
  readonly body: unknown;
}

interface StoreRequest extends EgressOptions {
  /** Whose credentials a 401 or 403 rejects. */
  readonly rejects: 'settings' | 'buyer';
}

/**
 * Sends one request to a store. No answer, an answer of a server in trouble, and one that is not JSON are the same to
 * the caller: it cannot know what the store did.
 */
export async function askStore(
  asking: Asking,
  portal: StorePortal,
  url: string,
  request: StoreRequest,
): Promise<StoreAnswer> {
  const { status, text } = await fetchStore(asking, portal, url, request);
  try {
    return { status, ok: status >= 200 && status < 300, body: text.trim() === '' ? {} : JSON.parse(text) };
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new StoreUnavailable(`${portal} did not answer`, { cause });
    throw cause;
  }
}

/** The same, for an answer that is not JSON. */
export async function fetchStore(
  asking: Asking,
  portal: StorePortal,
  url: string,
  { rejects, ...options }: StoreRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const { app, deadlineMs = DEADLINE_MS } = asking;
  const limits = { redirectsMax: 0, timeoutMs: deadlineMs, bytesMax: BYTES_MAX };
  try {
    const { status, body } = await app.egress.fetch(addressOf(app, portal, url), { ...limits, ...options });
    if (status >= 500 || status === 408 || status === 429) throw new StoreUnavailable(`${portal} answered ${status}`);
    if (status === 401 || status === 403) throw new StoreRefusal(rejects, `${portal} answered ${status}`);
    return { status, text: body.toString('utf8') };
  } catch (cause) {
    if (cause instanceof EgressError) throw new StoreUnavailable(`${portal} did not answer`, { cause });
    throw cause;
  }
}

/** Reads pages until `next` names no further one. */
export async function everyPage<T>(
  first: string,
  read: (cursor: string) => Promise<{ items: readonly T[]; next: string }>,
): Promise<T[]> {
  const all: T[] = [];
  let cursor = first;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next } = await read(cursor);
    all.push(...items);
    if (!next || next === cursor) return all;
    cursor = next;
  }
  throw new StoreUnavailable('the list of purchases does not end');
}

/** A successful answer that should be an object. Anything else gives no information about the purchase. */
export function requireOk({ ok, status, body }: StoreAnswer): Json {
  if (!ok) throw new StoreUnavailable(`unexpected status ${status}`);
  return objectOf(body);
}

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(objectOf) : []);

/** Stores send whole numbers as numbers or as text. */
export function countOf(value: unknown, otherwise: number): number {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : otherwise;
}

/** Large ids arrive as text, because JSON numbers lose digits. */
export const idOf = (value: unknown): string =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : stringOf(value);

export function requireSetting(settings: StoreSettings, name: string): string {
  const value = settings[name];
  if (typeof value !== 'string' || value === '') throw new StoreRefusal('settings', `the setting ${name} is missing`);
  return value;
}

export const optionalSetting = (settings: StoreSettings, name: string): string | undefined => {
  const value = settings[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const basicAuthorization = (name: string, secret: string): string =>
  `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;

export const json = (method: string, body: object, headers: Record<string, string> = {}): EgressOptions => ({
  method,
  headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** A UUID, which every attempt to consume has, as a positive number of 63 bits for stores that want one. */
export const numberOfKey = (key: string): string =>
  String(BigInt.asUintN(63, BigInt(`0x${key.replaceAll('-', '').slice(-16)}`)) || 1n);
