import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { App } from '../context.ts';
import { placeholders } from '../images/images.ts';
import type { ByteRange, Storage } from '../storage/storage.ts';

/** Only pictures that this service has written itself are handed out here; other storage has no address. */
const IMAGE = /^images\/[0-9a-f]{32}-([a-z]+)\/([a-z0-9_]+)\.png$/;
const PLACEHOLDER = /^placeholder\/(([a-z]+)\/([a-z0-9_]+)\.png)$/;

interface Found {
  readonly storage: Storage;
  readonly key: string;
  readonly filename: string;
}

/** Answers with a stored picture; false where there is none. */
export async function answerFile(
  app: App,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
): Promise<boolean> {
  const found = find(app, key);
  const stored = await found?.storage.stat(found.key);
  if (!found || !stored) return false;
  const etag = `"${key}:${stored.bytes}"`;
  const headers = headersOf(found.filename, etag);
  if (isKnown(request, etag)) return end(response, 304, headers);
  const whole = { start: 0, end: stored.bytes - 1 };
  const range = rangeOf(request, etag, stored.bytes);
  if (range === 'unsatisfiable')
    return end(response, 416, [...headers, 'content-range', `bytes */${stored.bytes}`, 'content-length', '0']);
  const { start, end: last } = range ?? whole;
  const about = [...headers, 'content-type', 'image/png', 'content-length', String(last - start + 1)];
  if (range) about.push('content-range', `bytes ${start}-${last}/${stored.bytes}`);
  if (request.method === 'HEAD') return end(response, 200, about);
  const opened = await found.storage.open(found.key, range);
  if (!opened) return false;
  response.writeHead(range ? 206 : 200, about);
  await pipeline(opened.stream, response).catch((error) => unlessLeft(error, response));
  return true;
}

function find(app: App, key: string): Found | undefined {
  const image = IMAGE.exec(key);
  if (image) return { storage: app.storage, key, filename: filenameOf(image[1]!, image[2]!) };
  const placeholder = PLACEHOLDER.exec(key);
  if (!placeholder) return undefined;
  return { storage: placeholders, key: placeholder[1]!, filename: filenameOf(placeholder[2]!, placeholder[3]!) };
}

/** Made of the kind and size alone: names that people gave to their files are nowhere repeated. */
const filenameOf = (kind: string, name: string) => (name === 'original' ? `${kind}.png` : `${kind}_${name}.png`);

const headersOf = (filename: string, etag: string): string[] => [
  'etag',
  etag,
  'cache-control',
  'public, max-age=31536000, immutable',
  'accept-ranges',
  'bytes',
  'content-disposition',
  `inline; filename="${filename}"`,
  'content-security-policy',
  "default-src 'none'; sandbox",
  'cross-origin-resource-policy',
  'cross-origin',
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'strict-transport-security',
  'max-age=31536000',
];

function end(response: ServerResponse, status: number, headers: string[]): true {
  response.writeHead(status, headers);
  response.end();
  return true;
}

function isKnown({ headers }: IncomingMessage, etag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known !== undefined && (known.includes(etag) || known.includes('*'));
}

/** One range is answered. Several, or what is none, count as a wish for the whole, as does one of another version. */
function rangeOf(
  { headers, method }: IncomingMessage,
  etag: string,
  bytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const asked = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range?.trim() ?? '');
  const condition = headers['if-range'];
  if (!asked || method !== 'GET' || (condition !== undefined && condition !== etag)) return undefined;
  const [first, last] = [asked[1]!, asked[2]!];
  if (first === '') {
    if (last === '') return undefined;
    return Number(last) === 0 ? 'unsatisfiable' : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  }
  if (last !== '' && Number(last) < Number(first)) return undefined;
  if (Number(first) >= bytes) return 'unsatisfiable';
  return { start: Number(first), end: last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}

/** Whoever leaves before the end has what they wanted; the pipeline has closed the file. */
function unlessLeft(error: NodeJS.ErrnoException, response: ServerResponse): void {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE' && response.socket?.destroyed === false) throw error;
}
