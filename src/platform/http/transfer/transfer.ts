import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '../../runtime/random.ts';
import type { ByteRange, OpenObject } from '../../storage/storage.ts';
import { rightOfWay } from '../right-of-way.ts';
import { Buffers, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN } from './buffers.ts';
import { isRangeOfThis, type Validators, verdictOf } from './conditions.ts';
import { Answer, Pump } from './pump.ts';
import { rangesOf } from './ranges.ts';
import { Damaged, Soundness } from './soundness.ts';

/** An object on its way to a reader. */
interface Sendable extends Validators {
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
/**
 * What is encrypted at once. A smaller piece costs more per byte; a larger one no longer stays in the processor's
 * cache on its way, which costs more as well, and keeps all others waiting for longer.
 */
const PIECE_BYTES = 64 * 1024;
/**
 * A read that takes longer while the disk was read came from there: what follows is left to threads that may wait for
 * it, the more the sooner it happens again. On a busy machine a process is interrupted for longer than that.
 */
const COLD_MS = 4;
const COLD_BYTES_MIN = 1024 * 1024;
const COLD_BYTES_MAX = 64 * 1024 * 1024;

/** How often this process has read from a disk, and not from the system's memory. */
const readsOfDisk = () => process.resourceUsage().fsRead;

export function createTransfers(random: Random, diskReads = readsOfDisk): Transfers {
  const buffers = new Buffers();
  const pump = new Pump(rightOfWay);
  const soundness = new Soundness();

  async function send(request: IncomingMessage, response: ServerResponse, sendable: Sendable): Promise<void> {
    const { opened, begun, sha256 } = sendable;
    const verdict = verdictOf(request.headers, sendable);
    if (verdict !== 'send') return end(response, verdict === 'failed' ? 412 : 304, sendable);
    const ranges = wantedRanges(request, sendable);
    if (ranges === 'unsatisfiable') return end(response, 416, sendable, ['content-range', `bytes */${opened.bytes}`]);
    const parts = partsOf(ranges, sendable, () => random.hex(32));
    const sound = soundOf(request.method === 'HEAD' || !sha256 ? undefined : soundness.check(opened, sha256));
    // One that leaves in a single chunk can still be refused with an answer.
    if (opened.bytes <= CHUNK_BYTES_MAX) await sound.known;
    response.writeHead(ranges === 'whole' ? 200 : 206, [...headersOf(sendable), ...parts.headers]);
    if (request.method === 'HEAD') return void response.end();
    if (ranges === 'whole' || ranges[0]!.start === 0) begun?.();
    if (parts.bytes === 0) return void response.end();
    const answer = new Answer(response, parts.bytes);
    for (const { before, range } of parts.list) {
      if (before) await pump.send(answer, piecesOf(Buffer.from(before)));
      await sendRange(answer, opened, range, sound);
    }
    if (parts.after) await pump.send(answer, piecesOf(Buffer.from(parts.after)));
  }

  async function sendRange(answer: Answer, opened: OpenObject, range: ByteRange, sound: Sound): Promise<void> {
    const { start, end } = range;
    let size = CHUNK_BYTES_MIN;
    let [coldBytes, coldUntil] = [COLD_BYTES_MIN, start];
    for (let at = start; at <= end; ) {
      if (sound.isKnown && opened.readNow && at >= coldUntil) {
        const from = at;
        at = await sendNow(answer, opened, { start: from, end });
        coldBytes = at - from < coldBytes ? Math.min(coldBytes * 2, COLD_BYTES_MAX) : COLD_BYTES_MIN;
        coldUntil = at + coldBytes;
        continue;
      }
      const buffer = buffers.take(Math.min(size, end + 1 - at));
      const bytes = await opened.readInto(buffer, at);
      if (bytes === 0) throw endedEarly(opened, at);
      at += bytes;
      if (at === opened.bytes) await sound.known;
      const began = performance.now();
      await pump.send(answer, piecesOf(buffer.subarray(0, bytes)));
      size = sizeAfter(size, opened.readBytes, performance.now() - began);
      // Not after a failure: then something may still read from it.
      buffers.give(buffer);
    }
  }

  /** Sends what is in the memory of the system, which needs no thread that waits for it; returns where that ended. */
  async function sendNow(answer: Answer, opened: OpenObject, { start, end }: ByteRange): Promise<number> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end + 1 - start));
    let at = start;
    let isCold = false;
    const before = diskReads();
    await pump.send(answer, () => {
      if (at > end || isCold) return undefined;
      const began = performance.now();
      const bytes = opened.readNow!(buffer.subarray(0, Math.min(buffer.length, end + 1 - at)), at);
      if (bytes === 0) throw endedEarly(opened, at);
      isCold = performance.now() - began > COLD_MS && diskReads() > before;
      at += bytes;
      return buffer.subarray(0, bytes);
    });
    return at;
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

/** Whether an object was read whole and is what it should be; then it is in the memory of the system as well, mostly. */
interface Sound {
  readonly known: Promise<void> | undefined;
  isKnown: boolean;
}

function soundOf(known: Promise<void> | undefined): Sound {
  const sound = { known, isKnown: false };
  known?.then(
    () => (sound.isKnown = true),
    () => {},
  );
  return sound;
}

const endedEarly = ({ bytes }: OpenObject, at: number) => new Damaged(`an object of ${bytes} bytes ended after ${at}`);

function piecesOf(bytes: Buffer): () => Buffer | undefined {
  let at = 0;
  return () => {
    if (at >= bytes.length) return undefined;
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    at += piece.length;
    return piece;
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

function sizeAfter(size: number, most: number, milliseconds: number): number {
  if (milliseconds > SLOW_MS) return CHUNK_BYTES_MIN;
  return milliseconds < QUICK_MS ? Math.min(size * 2, most) : size;
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
  readonly bytes: number;
  readonly headers: readonly string[];
  readonly list: readonly { readonly before?: string; readonly range: ByteRange }[];
  readonly after?: string;
}

/** The body as a sequence of texts and ranges, with its length. */
function partsOf(ranges: readonly ByteRange[] | 'whole', { opened, type }: Sendable, boundary: () => string): Parts {
  const of = ({ start, end }: ByteRange) => `bytes ${start}-${end}/${opened.bytes}`;
  if (ranges === 'whole')
    return {
      bytes: opened.bytes,
      headers: ['content-type', type, 'content-length', String(opened.bytes)],
      list: [{ range: { start: 0, end: opened.bytes - 1 } }],
    };
  const bytes = ranges.reduce((sum, { start, end }) => sum + end + 1 - start, 0);
  if (ranges.length === 1)
    return {
      bytes,
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
    bytes: bytes + framing,
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
