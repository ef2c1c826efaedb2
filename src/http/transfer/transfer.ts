import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '../../random.ts';
import type { ByteRange, OpenObject } from '../../storage/storage.ts';
import { Buffers, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN } from './buffers.ts';
import { isRangeOfThis, type Validators, verdictOf } from './conditions.ts';
import { rangesOf } from './ranges.ts';
import { Damaged, Soundness } from './soundness.ts';

/** An object on its way to a reader. */
export interface Sendable extends Validators {
  readonly opened: OpenObject;
  readonly type: string;
  /** What the answer says besides what the transfer says itself. */
  readonly headers: readonly string[];
  /** What the bytes are held against before the last of them leaves. */
  readonly sha256?: string;
  /** Called when bytes from the first on are about to be sent. */
  readonly begun?: () => void;
}

export interface Transfers {
  /**
   * Answers a GET or HEAD with the object, or with the parts of it that are asked for, at the pace of its reader, and
   * closes it. Throws where the bytes are damaged and where the reader leaves.
   */
  send(request: IncomingMessage, response: ServerResponse, sendable: Sendable): Promise<void>;
  /** For an object that another server sends: throws where it is known to be damaged, and looks for the next time. */
  leave(opened: OpenObject, sha256: string): Promise<void>;
}

/** Of a reader who takes a chunk within this time, more is read at once; of one who takes longer, little. */
const QUICK_MS = 250;
const SLOW_MS = 2_000;
/** What is encrypted at once: more would not stay in the processor's cache, and keep others waiting for longer. */
const PIECE_BYTES = 256 * 1024;

export function createTransfers(random: Random): Transfers {
  const buffers = new Buffers();
  const soundness = new Soundness();

  async function send(request: IncomingMessage, response: ServerResponse, sendable: Sendable): Promise<void> {
    const { opened, begun, sha256 } = sendable;
    const verdict = verdictOf(request.headers, sendable);
    if (verdict !== 'send') return end(response, verdict === 'failed' ? 412 : 304, sendable);
    const ranges = wantedRanges(request, sendable);
    if (ranges === 'unsatisfiable') return end(response, 416, sendable, ['content-range', `bytes */${opened.bytes}`]);
    const parts = partsOf(ranges, sendable, () => random.hex(32));
    const sound = request.method === 'HEAD' || !sha256 ? undefined : soundness.check(opened, sha256);
    sound?.catch(() => {});
    // One that leaves in a single chunk can still be refused with an answer.
    if (opened.bytes <= CHUNK_BYTES_MAX) await sound;
    response.writeHead(ranges === 'whole' ? 200 : 206, [...headersOf(sendable), ...parts.headers]);
    if (request.method === 'HEAD') return void response.end();
    if (ranges === 'whole' || ranges[0]!.start === 0) begun?.();
    for (const { before, range } of parts.list) {
      if (before) response.write(before);
      await sendRange(response, opened, range, sound);
    }
    await ended(response, parts.after);
  }

  async function sendRange(
    response: ServerResponse,
    opened: OpenObject,
    { start, end }: ByteRange,
    sound: Promise<void> | undefined,
  ): Promise<void> {
    let size = CHUNK_BYTES_MIN;
    for (let at = start; at <= end; ) {
      const buffer = buffers.take(Math.min(size, end + 1 - at));
      const bytes = await opened.readInto(buffer, at);
      if (bytes === 0) throw new Damaged(`an object of ${opened.bytes} bytes ended after ${at}`);
      at += bytes;
      if (at === opened.bytes) await sound;
      const began = performance.now();
      for (let from = 0; from < bytes; from += PIECE_BYTES)
        await written(response, buffer.subarray(from, Math.min(bytes, from + PIECE_BYTES)));
      size = sizeAfter(size, performance.now() - began);
      // Not after a failure: then something may still read from it.
      buffers.give(buffer);
    }
  }

  return {
    send: async (request, response, sendable) => {
      try {
        await send(request, response, sendable);
      } finally {
        await sendable.opened.close();
      }
    },
    leave: async (opened, sha256) => {
      const check = soundness.check(opened, sha256);
      check.catch(() => {}).finally(() => opened.close());
      if (soundness.isDamaged(opened, sha256)) await check;
    },
  };
}

/** A part is for GET alone (RFC 9110, 14.2). */
function wantedRanges({ headers, method }: IncomingMessage, sendable: Sendable) {
  if (method !== 'GET' || !isRangeOfThis(headers, sendable)) return 'whole';
  return rangesOf(headers.range, sendable.opened.bytes);
}

/** Whether a request, as far as it can tell, asks for the first byte of something. */
export function asksForBeginning({ headers, method }: IncomingMessage): boolean {
  const ranges = rangesOf(headers.range, Number.MAX_SAFE_INTEGER);
  return method === 'GET' && (ranges === 'whole' || (ranges !== 'unsatisfiable' && ranges[0]!.start === 0));
}

function sizeAfter(size: number, milliseconds: number): number {
  if (milliseconds > SLOW_MS) return CHUNK_BYTES_MIN;
  return milliseconds < QUICK_MS ? Math.min(size * 2, CHUNK_BYTES_MAX) : size;
}

const headersOf = ({ etag, dateModified, headers }: Sendable): string[] => [
  'etag',
  etag,
  'last-modified',
  new Date(dateModified * 1000).toUTCString(),
  'accept-ranges',
  'bytes',
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'strict-transport-security',
  'max-age=31536000',
  ...headers,
];

interface Parts {
  readonly headers: readonly string[];
  readonly list: readonly { readonly before?: string; readonly range: ByteRange }[];
  readonly after?: string;
}

/** The body as a sequence of texts and ranges, with its length. */
function partsOf(ranges: readonly ByteRange[] | 'whole', { opened, type }: Sendable, boundary: () => string): Parts {
  const of = ({ start, end }: ByteRange) => `bytes ${start}-${end}/${opened.bytes}`;
  if (ranges === 'whole')
    return {
      headers: ['content-type', type, 'content-length', String(opened.bytes)],
      list: [{ range: { start: 0, end: opened.bytes - 1 } }],
    };
  const bytes = ranges.reduce((sum, { start, end }) => sum + end + 1 - start, 0);
  if (ranges.length === 1)
    return {
      headers: ['content-type', type, 'content-length', String(bytes), 'content-range', of(ranges[0]!)],
      list: [{ range: ranges[0]! }],
    };
  const mark = boundary();
  const list = ranges.map((range) => ({
    before: `\r\n--${mark}\r\ncontent-type: ${type}\r\ncontent-range: ${of(range)}\r\n\r\n`,
    range,
  }));
  const after = `\r\n--${mark}--\r\n`;
  const framing = list.reduce((sum, { before }) => sum + before.length, after.length);
  return {
    headers: ['content-type', `multipart/byteranges; boundary=${mark}`, 'content-length', String(bytes + framing)],
    list,
    after,
  };
}

function end(
  response: ServerResponse,
  status: 304 | 412 | 416,
  sendable: Sendable,
  more: readonly string[] = [],
): void {
  const length = status === 304 ? [] : ['content-length', '0'];
  response.writeHead(status, [...headersOf(sendable), ...length, ...more]);
  response.end();
}

class ReaderLeft extends Error {
  override readonly name = 'ReaderLeft';
}

/** Settles when the bytes have left this process, so that no more than a chunk waits for a slow reader. */
function written(response: ServerResponse, chunk: Buffer): Promise<void> {
  return settled(response, (done) => response.write(chunk, done));
}

const ended = (response: ServerResponse, after: string | undefined): Promise<void> =>
  settled(response, (done) => void (after === undefined ? response.end(done) : response.end(after, done)));

function settled(response: ServerResponse, write: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = () => reject(new ReaderLeft('the reader left before the end'));
    response.once('close', left);
    write((error) => {
      response.off('close', left);
      if (error) reject(error);
      else resolve();
    });
  });
}
