import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ApiError } from '../../errors/catalogue.ts';
import { type BodySource, bytesText, chunksOf } from './body.ts';
import { assign, type Fields, type FormTree, newFormTree, toFields } from './forms.ts';
import { closed, requireBoundary } from './framing.ts';
import { mergeInputJson } from './json.ts';

export type FilePart = { field: string; filename: string; mimeType?: string; stream: Readable };
/** A numbered field may be sent often, with a number behind its name. */
export type FileRule = { bytesMax: number; many?: boolean; numbered?: boolean };

export type MultipartOptions<T> = {
  /** The file fields of the operation; files in other fields are read and thrown away. */
  files: Record<string, FileRule>;
  fieldBytesMax: number;
  /** Must settle once its stream has ended or was destroyed. What it stored before a later failure is its own to remove. */
  onFile(part: FilePart): Promise<T>;
};

type Reading<T> = {
  options: MultipartOptions<T>;
  form: FormTree;
  files: Map<string, Promise<T>[]>;
  streams: Set<Readable>;
  /** How many `onFile` are under way. */
  open: number;
  /** What the parser was asked last and has not answered yet. */
  question: symbol | undefined;
  stop: AbortController;
  /** Ends what is waited for. */
  interrupt: (reason: unknown) => void;
};

const filesMax = 1_000;
const stallCheckMilliseconds = 20;

/**
 * Reads a multipart/form-data body as it arrives: each declared file goes to `onFile`, at its pace, and the
 * text fields become fields. After a failure the body stays unread, since its socket has to carry the answer.
 */
export async function readMultipart<T>(
  stream: BodySource,
  contentType: string,
  options: MultipartOptions<T>,
): Promise<{ fields: Fields; files: Record<string, T[]> }> {
  const boundary = requireBoundary(contentType);
  const reading = newReading(options);
  const watch = watchForStall(reading);
  try {
    await feed(reading, parserFor(reading, boundary), closed(chunksOf(stream), boundary));
  } catch (cause) {
    fail(reading, cause instanceof ApiError ? cause : new ApiError('FILE_UNREADABLE', { cause }));
  } finally {
    clearInterval(watch);
  }
  const files = await settledFiles(reading);
  reading.stop.signal.throwIfAborted();
  return { fields: mergeInputJson(toFields(reading.form)), files };
}

function newReading<T>(options: MultipartOptions<T>): Reading<T> {
  return {
    options,
    form: newFormTree(),
    files: new Map(),
    streams: new Set(),
    open: 0,
    question: undefined,
    stop: new AbortController(),
    interrupt: () => {},
  };
}

/** The first failure is the one to answer with; the others follow from it. */
function fail<T>(reading: Reading<T>, reason: unknown): void {
  if (reading.stop.signal.aborted) return;
  reading.stop.abort(reason);
  reading.interrupt(reason);
  const error = reason instanceof Error ? reason : new Error('onFile failed', { cause: reason });
  for (const stream of reading.streams) stream.destroy(error);
}

function parserFor<T>(reading: Reading<T>, boundary: string): BusboyInstance {
  const { fieldBytesMax } = reading.options;
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  const parser = new Busboy({ headers, limits: { fieldSize: fieldBytesMax } });
  parser.on('field', (name, value, _, truncated) => takeText(reading, name, value, truncated));
  parser.on('file', (name, file, filename, _, mimeType) => takeFile(reading, name, file, filename, mimeType));
  parser.on('error', (cause) => fail(reading, new ApiError('FILE_UNREADABLE', { cause })));
  return parser;
}

async function feed<T>(reading: Reading<T>, parser: BusboyInstance, body: AsyncGenerator<Buffer>): Promise<void> {
  try {
    for (;;) {
      const next = await unlessStopped(reading, body.next());
      if (next.done) break;
      await answer(reading, (done) => parser.write(next.value, done));
    }
    await answer(reading, (done) => parser.once('finish', done).end());
  } finally {
    parser.destroy();
    body.return(undefined).catch(() => {});
  }
}

async function answer<T>(reading: Reading<T>, ask: (done: (error?: Error | null) => void) => void): Promise<void> {
  reading.question = Symbol('question');
  const answered = new Promise<void>((resolve, reject) => ask((error) => (error ? reject(error) : resolve())));
  await unlessStopped(reading, answered);
  reading.question = undefined;
}

/** Not Promise.race: it would keep every chunk reachable for as long as the signal lives. One is waited for at a time. */
function unlessStopped<T, V>(reading: Reading<T>, work: Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    reading.interrupt = reject;
    if (reading.stop.signal.aborted) reject(reading.stop.signal.reason);
    work.then(resolve, reject);
  });
}

/**
 * Busboy 3.2 never answers after a part whose headers do not end (`--b\r\n\r\n--b--`). When no file is being read
 * it has nothing to wait for, so a question that is open for a whole turn of the event loop stays open.
 */
function watchForStall<T>(reading: Reading<T>): NodeJS.Timeout {
  let seen: symbol | undefined;
  return setInterval(() => {
    const waiting = reading.open === 0 ? reading.question : undefined;
    if (waiting && waiting === seen) fail(reading, new ApiError('FILE_UNREADABLE'));
    seen = waiting;
  }, stallCheckMilliseconds);
}

function takeText<T>(reading: Reading<T>, name: string | undefined, value: string, truncated: boolean): void {
  if (name === undefined) return;
  const { fieldBytesMax } = reading.options;
  if (declaredName(reading, name) !== undefined) fail(reading, new ApiError('FILE_NOT_BINARY'));
  else if (truncated) fail(reading, tooLarge(name, fieldBytesMax));
  else assign(reading.form, name, value);
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
  const stream = Readable.from(counted(reading, file, sent, bytesMax), { objectMode: false });
  // Busboy says text/plain for a part without Content-Type, as those of the C++ SDK are.
  const type = mimeType === 'text/plain' ? {} : { mimeType };
  const part = { field: sent, filename: (filename ?? '').toWellFormed(), ...type, stream };
  const work = handOver(reading, part, file);
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

async function* counted<T>(
  reading: Reading<T>,
  file: Readable,
  field: string,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of file.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      const error = tooLarge(field, bytesMax);
      fail(reading, error);
      throw error;
    }
    yield chunk;
  }
}

/** The parser waits for the end of each file, so what `onFile` leaves unread is drained after it. */
async function handOver<T>(reading: Reading<T>, part: FilePart, file: Readable): Promise<T> {
  part.stream.on('error', () => {}).once('close', () => file.resume());
  reading.streams.add(file).add(part.stream);
  reading.open += 1;
  try {
    return await reading.options.onFile(part);
  } catch (error) {
    fail(reading, error);
    throw error;
  } finally {
    reading.open -= 1;
    part.stream.destroy();
    reading.streams.delete(file);
    reading.streams.delete(part.stream);
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
