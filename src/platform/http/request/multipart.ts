import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ApiError } from '../../errors/catalogue.ts';
import { Blocks } from './blocks.ts';
import { bytesText } from './body.ts';
import { Feed } from './feed.ts';
import { assign, type Fields, type FormTree, newFormTree, pairsMax, toFields, tooManyFields } from './forms.ts';
import { Framing, requireBoundary } from './framing.ts';
import { mergeInputJson } from './json.ts';
import { withIllFormed } from './utf8.ts';

/** A block of its bytes is valid until the next one is requested (`Blocks`). */
export type FilePart = { field: string; filename: string; mimeType?: string; bytes: AsyncIterable<Buffer> };
/** A numbered field may be repeated with a number after its name. */
type FileRule = { bytesMax: number; many?: boolean; numbered?: boolean };

export type MultipartOptions<T> = {
  /** The operation's file fields; other files are read and dropped. */
  files: Record<string, FileRule>;
  fieldBytesMax: number;
  /** Must settle once the bytes have ended or failed, and must remove what it stored if a later step fails. */
  onFile(part: FilePart): Promise<T>;
};

type Reading<T> = {
  options: MultipartOptions<T>;
  form: FormTree;
  parts: number;
  /** Length of all text fields. */
  textLength: number;
  files: Map<string, Promise<T>[]>;
  streams: Set<Readable>;
  /** Number of running `onFile` calls. */
  open: number;
  feed: Feed;
  stop: AbortController;
};

const filesMax = 1_000;
/** Unknown parts count, too, since each has a cost. */
const partsMax = 5_000;
const stallCheckMilliseconds = 20;

const unreadable = (cause?: unknown): ApiError =>
  new ApiError('FILE_UNREADABLE', { cause, fields: [{ field: 'body', rule: 'multipart_form' }] });

/**
 * Parses a multipart/form-data body as it arrives: files go to `onFile` at its speed, text becomes fields. After a
 * failure the rest stays unread, because the socket must carry the response.
 */
export async function readMultipart<T>(
  stream: Readable,
  contentType: string,
  options: MultipartOptions<T>,
): Promise<{ fields: Fields; files: Record<string, T[]> }> {
  const boundary = requireBoundary(contentType);
  const reading = newReading(stream, boundary, options);
  const watch = watchForStall(reading);
  try {
    await reading.feed.finished;
  } catch (cause) {
    fail(reading, cause instanceof ApiError ? cause : unreadable(cause));
  } finally {
    clearInterval(watch);
  }
  const files = await settledFiles(reading);
  reading.stop.signal.throwIfAborted();
  return { fields: mergeInputJson(toFields(reading.form)), files };
}

function newReading<T>(stream: Readable, boundary: string, options: MultipartOptions<T>): Reading<T> {
  const parser = parserFor(boundary, options);
  const reading = {
    options,
    form: newFormTree(),
    parts: 0,
    textLength: 0,
    files: new Map(),
    streams: new Set<Readable>(),
    open: 0,
    feed: new Feed(stream, parser, new Framing(boundary)),
    stop: new AbortController(),
  };
  parser.on('field', (name, value, _, truncated) => takeText(reading, name, value, truncated));
  parser.on('file', (name, file, filename, _, mimeType) => takeFile(reading, name, file, filename, mimeType));
  parser.on('error', (cause) => fail(reading, unreadable(cause)));
  return reading;
}

/** Reports the first failure; later ones follow from it. */
function fail<T>(reading: Reading<T>, reason: unknown): void {
  if (reading.stop.signal.aborted) return;
  reading.stop.abort(reason);
  reading.feed.stop(reason);
  const error = reason instanceof Error ? reason : new Error('onFile failed', { cause: reason });
  for (const stream of reading.streams) stream.destroy(error);
}

function parserFor<T>(boundary: string, { fieldBytesMax }: MultipartOptions<T>): BusboyInstance {
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  return new Busboy({ headers, limits: { fieldSize: fieldBytesMax } });
}

/**
 * Busboy 3.2 hangs after a part whose headers do not end (`--b\r\n\r\n--b--`). Bytes that it has not parsed for a whole
 * tick while no file is open will never be parsed.
 */
function watchForStall<T>(reading: Reading<T>): NodeJS.Timeout {
  let seen: number | undefined;
  return setInterval(() => {
    const parsedBytes = reading.open === 0 ? reading.feed.parsedBytes : undefined;
    if (parsedBytes !== undefined && parsedBytes === seen) fail(reading, unreadable());
    seen = parsedBytes;
  }, stallCheckMilliseconds);
}

function takeText<T>(reading: Reading<T>, name: string | undefined, value: string, truncated: boolean): void {
  countPart(reading);
  if (name === undefined) return;
  const { fieldBytesMax } = reading.options;
  reading.textLength += value.length;
  if (declaredName(reading, name) !== undefined) fail(reading, new ApiError('FILE_NOT_BINARY'));
  else if (truncated || reading.textLength > fieldBytesMax) fail(reading, tooLarge(name, fieldBytesMax));
  else if (reading.form.pairs >= pairsMax) fail(reading, tooManyFields('body', pairsMax));
  else assign(reading.form, withIllFormed(name), withIllFormed(value));
}

function countPart<T>(reading: Reading<T>): void {
  reading.parts += 1;
  if (reading.parts > partsMax) fail(reading, tooManyFields('body', partsMax));
}

function takeFile<T>(
  reading: Reading<T>,
  name: string | undefined,
  file: BusboyFileStream,
  filename: string | undefined,
  mimeType: string,
): void {
  // Busboy emits errors on part streams, and an unhandled one ends the process.
  file.on('error', () => {});
  countPart(reading);
  const field = declaredName(reading, name);
  if (field === undefined || reading.stop.signal.aborted) {
    file.resume();
    return;
  }
  const { bytesMax, many, numbered } = reading.options.files[field]!;
  const held = reading.files.get(field) ?? [];
  if (held.length >= (many || numbered ? filesMax : 1)) {
    fail(reading, new ApiError('FILE_TOO_MANY'));
    file.resume();
    return;
  }
  const sent = numbered ? name! : field;
  const blocks = new Blocks(file, () => reading.feed.resume());
  reading.feed.fill(blocks);
  // Busboy reports text/plain for a part without Content-Type, which the C++ SDK sends.
  const type = mimeType === 'text/plain' ? {} : { mimeType };
  const bytes = counted(reading, file, blocks, sent, bytesMax);
  const part = { field: sent, filename: (filename ?? '').toWellFormed(), ...type, bytes };
  const work = handOver(reading, part, file, blocks);
  work.catch(() => {});
  reading.files.set(field, [...held, work]);
}

/** A many-file field may also be sent as a list: `images[]`, `images[0]`. */
function declaredName<T>({ options: { files } }: Reading<T>, name = ''): string | undefined {
  const known = [name, name.replace(/\[\d*\]$/, '')].find((each) => Object.hasOwn(files, each));
  if (known !== undefined) return known;
  const stem = name.replace(/\d{1,4}$/, '');
  return Object.hasOwn(files, stem) && files[stem]!.numbered ? stem : undefined;
}

/** The parser waits for the end of each file, so unread bytes are drained. */
async function* counted<T>(
  reading: Reading<T>,
  file: Readable,
  blocks: Blocks,
  field: string,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const block of blocks) {
      bytes += block.length;
      if (bytes > bytesMax) {
        const error = tooLarge(field, bytesMax);
        fail(reading, error);
        throw error;
      }
      yield block;
    }
  } finally {
    file.resume();
  }
}

async function handOver<T>(reading: Reading<T>, part: FilePart, file: Readable, blocks: Blocks): Promise<T> {
  reading.streams.add(file);
  reading.open += 1;
  try {
    return await reading.options.onFile(part);
  } catch (error) {
    fail(reading, error);
    throw error;
  } finally {
    reading.open -= 1;
    reading.streams.delete(file);
    blocks.leave();
    file.resume();
  }
}

async function settledFiles<T>(reading: Reading<T>): Promise<Record<string, T[]>> {
  const files: Record<string, T[]> = {};
  for (const [field, work] of reading.files) {
    const settled = await Promise.allSettled(work);
    files[field] = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }
  return files;
}

const tooLarge = (field: string, bytesMax: number): ApiError =>
  new ApiError('VALIDATION_GENERIC', {
    fields: [{ field, rule: 'file_max', values: { max: bytesText(bytesMax) } }],
  });
