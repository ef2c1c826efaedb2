import { JSON_BODIES, WITHOUT_BODY } from '../contract/operations.ts';
import type { Bytes } from '../contract/shapes.ts';

export interface EncodedRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: Bytes | FormData | URLSearchParams | string | undefined;
}

type Fields = Record<string, unknown>;
type Pair = [name: string, value: string | Blob];

/** Puts the fields of the input where the operation expects them: path, query or body. */
export function encode(base: URL, operation: string, input: Fields): EncodedRequest {
  const [method, template] = operation.split(' ') as [string, string];
  const { body: given, ...rest } = input;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    if (value === undefined) throw new TypeError(`${operation} needs ${name}.`);
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  const url = new URL(base.pathname.replace(/\/$/, '') + path, base);
  const isRaw = isBytes(given);
  if (method === 'GET' || isRaw || WITHOUT_BODY.includes(operation)) {
    for (const [name, value] of pairsOf(rest)) url.searchParams.append(name, String(value));
    const headers: Record<string, string> = isRaw ? { 'Content-Type': 'application/octet-stream' } : {};
    return { method, url, headers, body: isRaw ? given : undefined };
  }
  return { method, url, ...bodyOf(operation, { ...rest, ...(given as Fields | undefined) }) };
}

const isBytes = (value: unknown): value is Bytes =>
  value instanceof Blob || value instanceof ArrayBuffer || ArrayBuffer.isView(value) || isStream(value);

export const isStream = (value: unknown): value is ReadableStream => value instanceof ReadableStream;

function bodyOf(operation: string, fields: Fields): Pick<EncodedRequest, 'headers' | 'body'> {
  if (JSON_BODIES.includes(operation))
    return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(fields) };
  const pairs = pairsOf(fields);
  if (pairs.length === 0) return { headers: {}, body: undefined };
  if (!pairs.some(([, value]) => value instanceof Blob))
    return { headers: {}, body: new URLSearchParams(pairs as [string, string][]) };
  const form = new FormData();
  for (const [name, value] of pairs) form.append(name, value);
  return { headers: {}, body: form };
}

const pairsOf = (fields: Fields): Pair[] => Object.entries(fields).flatMap(([name, value]) => pairs(name, value));

function pairs(name: string, value: unknown): Pair[] {
  if (value === undefined) return [];
  if (value === null) return [[name, '']];
  if (Array.isArray(value)) return listPairs(name, value);
  if (value instanceof Blob) return [[name, value]];
  if (value instanceof Date) return [[name, String(Math.floor(value.getTime() / 1000))]];
  if (typeof value !== 'object') return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, item]) => pairs(`${name}[${key}]`, item));
}

/** An empty list is sent as one empty value, which clears the field. */
function listPairs(name: string, values: readonly unknown[]): Pair[] {
  if (/-in$/.test(name)) return [[name, values.join(',')]];
  if (values.length === 0) return [[`${name}[]`, '']];
  return values.flatMap((value, index) => {
    const isScalar = typeof value !== 'object' || value instanceof Blob;
    return pairs(isScalar ? `${name}[]` : `${name}[${index}]`, value);
  });
}
