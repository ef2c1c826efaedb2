import type { IncomingHttpHeaders } from 'node:http';

/** What tells one state of an object from another. */
export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Unix seconds. */
  readonly dateModified: number;
}

export type Verdict = 'send' | 'not modified' | 'failed';

/** What the conditions of a GET or HEAD come to, in the order of RFC 9110, 13.2.2. */
export function verdictOf(headers: IncomingHttpHeaders, { etag, dateModified }: Validators): Verdict {
  const match = headers['if-match'];
  if (match !== undefined) {
    if (!tagsOf(match).some((tag) => tag === etag || tag === '*')) return 'failed';
  } else if (dateModified > (dateOf(headers['if-unmodified-since']) ?? Infinity)) return 'failed';
  const noneMatch = headers['if-none-match'];
  if (noneMatch !== undefined) {
    const known = tagsOf(noneMatch).map((tag) => tag.replace(/^W\//, ''));
    return known.includes(etag) || known.includes('*') ? 'not modified' : 'send';
  }
  return dateModified <= (dateOf(headers['if-modified-since']) ?? -Infinity) ? 'not modified' : 'send';
}

/** Whether the part that is asked for is a part of what the client holds (RFC 9110, 13.1.5). */
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
