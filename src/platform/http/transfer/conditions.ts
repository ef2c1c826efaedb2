import type { IncomingHttpHeaders } from 'node:http';

/** Validators of an object's current state. */
export interface Validators {
  /** A strong ETag, with quotes. */
  readonly etag: string;
  /** Unix seconds. */
  readonly dateModified: number;
}

export type Verdict = 'send' | 'not modified' | 'failed';

/** Evaluates the preconditions of a GET or HEAD in the order of RFC 9110, 13.2.2. */
export function verdictOf(headers: IncomingHttpHeaders, { etag, dateModified }: Validators): Verdict {
  const match = headers['if-match'];
  if (match !== undefined) {
    if (!tagsOf(match).some((tag) => tag === etag || tag === '*')) return 'failed';
  } else if (dateModified > (dateOf(headers['if-unmodified-since']) ?? Infinity)) return 'failed';
  if (headers['if-none-match'] !== undefined) return hasCurrent(headers, etag) ? 'not modified' : 'send';
  return dateModified <= (dateOf(headers['if-modified-since']) ?? -Infinity) ? 'not modified' : 'send';
}

/** True when `If-None-Match` names the current state, which the client has then (RFC 9110, 13.1.2). */
export function hasCurrent(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = tagsOf(headers['if-none-match'] ?? '').map((tag) => tag.replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}

/** True when `If-Range` matches the current state (RFC 9110, 13.1.5). */
export function isRangeOfThis(headers: IncomingHttpHeaders, { etag, dateModified }: Validators): boolean {
  const condition = String(headers['if-range'] ?? etag);
  if (condition === etag) return true;
  return !condition.includes('"') && dateOf(condition) === dateModified;
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());

function dateOf(header: string | undefined): number | undefined {
  const milliseconds = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
