import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '../../runtime/random.ts';
import type { ByteRange, OpenObject } from '../../storage/storage.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';
import { transferScheduler } from '../transfer-scheduler.ts';
import { Buffers, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN } from './buffers.ts';
import { ChunkSender, FixedLengthResponse } from './chunk-sender.ts';
import { isRangeOfThis, type Validators, verdictOf } from './conditions.ts';
import { rangesOf } from './ranges.ts';
import { Damaged, Soundness } from './soundness.ts';

/** An object to send. */
interface Sendable extends Validators {
  readonly opened: OpenObject;
  readonly type: string;
  /** Further response headers. */
  readonly headers: readonly string[];
  /** The hash that the bytes must match before the last chunk is sent. */
  readonly sha256?: string;
  /** Called when sending starts at the first byte. */
  readonly begun?: () => void;
}

export interface Transfers {
  /**
   * Answers a GET or HEAD with the object or its requested ranges at the client's speed, and closes the object. Throws
   * when the bytes are damaged or the client disconnects.
   */
  send(request: IncomingMessage, response: ServerResponse, sendable: Sendable): Promise<void>;
  /**
   * For an object that another server sends: throws when it is known to be damaged, and verifies it for the next time.
   */
  leave(opened: OpenObject, sha256: string): Promise<void>;
}

/** A client that takes a chunk within this time gets larger reads. */
const QUICK_MS = 250;
const SLOW_MS = 2_000;
/**
 * Bytes encrypted at once. Smaller chunks cost more per byte; larger ones leave the processor cache and delay other
 * requests.
 */
const PIECE_BYTES = 64 * 1024;
/**
 * A slower read that also hit the disk was not cached, so the following reads go to the thread pool. The disk check is
 * needed because a busy machine interrupts the process for longer than this.
 */
const COLD_MS = 4;
const COLD_BYTES_MIN = 1024 * 1024;
const COLD_BYTES_MAX = 64 * 1024 * 1024;

/** Number of reads from disk rather than from the page cache. */
const readsOfDisk = () => process.resourceUsage().fsRead;

export function createTransfers(random: Random, diskReads = readsOfDisk): Transfers {
  const buffers = new Buffers();
  const pump = new ChunkSender(transferScheduler);
  const soundness = new Soundness();

  async function send(request: IncomingMessage, response: ServerResponse, sendable: Sendable): Promise<void> {
    const { opened, begun, sha256 } = sendable;
    const verdict = verdictOf(request.headers, sendable);
    if (verdict !== 'send') return end(response, verdict === 'failed' ? 412 : 304, sendable);
    const ranges = wantedRanges(request, sendable);
    if (ranges === 'unsatisfiable') return end(response, 416, sendable, ['content-range', `bytes */${opened.bytes}`]);
    const parts = partsOf(ranges, sendable, () => random.hex(32));
    const sound = soundOf(request.method === 'HEAD' || !sha256 ? undefined : soundness.check(opened, sha256));
    // An object that fits one chunk can still be answered with an error.
    if (opened.bytes <= CHUNK_BYTES_MAX) await sound.known;
    response.writeHead(ranges === 'whole' ? 200 : 206, [...headersOf(sendable), ...parts.headers]);
    if (request.method === 'HEAD') return void response.end();
    if (ranges === 'whole' || ranges[0]!.start === 0) begun?.();
    if (parts.bytes === 0) return void response.end();
    const answer = new FixedLengthResponse(response, parts.bytes);
    for (const { before, range } of parts.list) {
      if (before) await pump.send(answer, piecesOf(Buffer.from(before)));
      await sendRange(answer, opened, range, sound);
    }
    if (parts.after) await pump.send(answer, piecesOf(Buffer.from(parts.after)));
  }

  async function sendRange(
    answer: FixedLengthResponse,
    opened: OpenObject,
    range: ByteRange,
    sound: Sound,
  ): Promise<void> {
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
      // Skipped after a failure, when something may still read from the buffer.
      buffers.give(buffer);
    }
  }

  /** Sends what is in the page cache without the thread pool, and returns where that ended. */
  async function sendNow(answer: FixedLengthResponse, opened: OpenObject, { start, end }: ByteRange): Promise<number> {
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

/** Whether an object is verified; then it is probably in the page cache, too. */
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

/** Ranges apply to GET only (RFC 9110, 14.2). */
function wantedRanges({ headers, method }: IncomingMessage, sendable: Sendable) {
  if (method !== 'GET' || !isRangeOfThis(headers, sendable)) return 'whole';
  return rangesOf(headers.range, sendable.opened.bytes);
}

/** True when a request probably asks for the first byte. */
export function startsAtFirstByte({ headers, method }: IncomingMessage): boolean {
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
  ...SECURITY_HEADERS,
  ...headers,
];

interface Parts {
  readonly bytes: number;
  readonly headers: readonly string[];
  readonly list: readonly { readonly before?: string; readonly range: ByteRange }[];
  readonly after?: string;
}

/** The body as a sequence of texts and ranges, with its total length. */
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
