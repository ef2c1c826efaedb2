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

/** Its bytes come in blocks, each of which is lent until the next is asked for (`Blocks`). */
export type FilePart = { field: string; filename: string; mimeType?: string; bytes: AsyncIterable<Buffer> };
/** A numbered field may be sent often, with a number behind its name. */
type FileRule = { bytesMax: number; many?: boolean; numbered?: boolean };

export type MultipartOptions<T> = {
  /** The file fields of the operation; files in other fields are read and thrown away. */
  files: Record<string, FileRule>;
  fieldBytesMax: number;
  /** Must settle once its bytes have ended or failed. What it stored before a later failure is its own to remove. */
  onFile(part: FilePart): Promise<T>;
};

type Reading<T> = {
  options: MultipartOptions<T>;
  form: FormTree;
  parts: number;
  /** Of all text fields together. */
  textLength: number;
  files: Map<string, Promise<T>[]>;
  streams: Set<Readable>;
  /** How many `onFile` are under way. */
  open: number;
  feed: Feed;
  stop: AbortController;
};

const filesMax = 1_000;
/** Every one costs something, also one that nobody asked for. */
const partsMax = 5_000;
const stallCheckMilliseconds = 20;

const unreadable = (cause?: unknown): ApiError =>
  new ApiError('FILE_UNREADABLE', { cause, fields: [{ field: 'body', rule: 'multipart_form' }] });

/**
 * Reads a multipart/form-data body as it arrives: each declared file goes to `onFile`, at its pace, and the
 * text fields become fields. After a failure the body stays unread, since its socket has to carry the answer.
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

/** The first failure is the one to answer with; the others follow from it. */
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
 * Busboy 3.2 never answers after a part whose headers do not end (`--b\r\n\r\n--b--`). When no file is being read
 * it has nothing to wait for, so bytes that it is not done with for a whole turn of the event loop stay with it.
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
  // Busboy emits errors on the streams of parts, where an error that nobody hears ends the process.
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
  const blocks = new Blocks(file, () => reading.feed.goOn());
  reading.feed.fill(blocks);
  // Busboy says text/plain for a part without Content-Type, as those of the C++ SDK are.
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

/** The parser waits for the end of each file, so what is left unread of it is drained. */
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
