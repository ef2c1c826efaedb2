import type { IncomingMessage } from 'node:http';
import type { App } from '../app.ts';
import { ApiError, type FieldProblem } from '../errors/catalogue.ts';
import { StorageFull } from '../storage/storage.ts';
import { hasBody } from './exchange.ts';
import { type AnyOperation, needsMultipart, type RawBody, takesBody, type Upload } from './operation.ts';
import { contentTypeOf, limited, readText } from './request/body.ts';
import { emptyFields, type Fields, parseBodyForm, parseForm } from './request/forms.ts';
import { mergeInputJson, parseInputJson, parseJsonBody } from './request/json.ts';
import { type FilePart, readMultipart } from './request/multipart.ts';
import { ownHeader } from './targeting.ts';

/** Fits the longest accepted text, with three-byte characters percent-encoded as nine bytes, and its neighbours. */
export const FORM_BYTES_MAX = 2.5 * 1024 * 1024;
const STRICT_FORM_BYTES_MAX = 64 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MULTIPART = 'multipart/form-data';

export interface Payload {
  readonly fields: Fields;
  readonly files: Readonly<Record<string, Upload | undefined>>;
  readonly uploads: readonly Upload[];
  readonly raw: RawBody;
  /** Required files that are missing. */
  readonly problems: readonly FieldProblem[];
  /** Removes uploads that the handler did not take; missing when no file was sent. */
  discard?(): Promise<void>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const NO_RAW: RawBody = { bytes: 0, chunks: { [Symbol.asyncIterator]: nothing } };

const ofFields = (fields: Fields, raw = NO_RAW): Payload => ({
  fields,
  files: {},
  uploads: [],
  raw,
  problems: [],
});

export const NO_PAYLOAD: Payload = ofFields(emptyFields());

/**
 * Merges query and body: body fields override query fields (docs/API-QUIRKS.md, 10), and `input_json` overrides both.
 */
export async function readPayload(
  app: App,
  request: IncomingMessage,
  operation: AnyOperation,
  query: Fields,
): Promise<Payload> {
  const { raw } = operation.declaration;
  if (raw) return ofFields(query, rawOf(request, raw.bytesMax));
  if (!takesBody(operation)) return ofFields(query);
  if (operation.declaration.strictForm) return readStrictForm(request, operation, query);
  const sent = withIdempotencyKey(app, request, operation, query);
  if (!hasBody(request)) return ofFields(merged(operation, sent, {}));
  const type = requireContentType(request, operation);
  if (type === JSON_TYPE)
    return ofFields(merged(operation, sent, parseJsonBody(await readText(request, FORM_BYTES_MAX))));
  if (type === MULTIPART) return readParts(app, request, operation, sent);
  return ofFields(merged(operation, sent, parseBodyForm(await readText(request, FORM_BYTES_MAX))));
}

/** The header is another place for the field `idempotent_key`; clients send both (docs/API-QUIRKS.md, 30). */
function withIdempotencyKey(app: App, { headers }: IncomingMessage, operation: AnyOperation, query: Fields): Fields {
  if (!operation.declaration.body?.shape['idempotent_key']) return query;
  const key = ownHeader(headers, app.settings.headerPrefixes, 'idempotent-key');
  return key === undefined ? query : { idempotent_key: key, ...query };
}

/** Ignores the Content-Type, because shipped clients send a wrong one (docs/API-QUIRKS.md, 15). */
function rawOf(request: IncomingMessage, bytesMax: number): RawBody {
  if (!hasBody(request)) return NO_RAW;
  const length = request.headers['content-length'];
  return { bytes: length === undefined ? undefined : Number(length), chunks: limited(request, bytesMax) };
}

function requireContentType({ headers }: IncomingMessage, { declaration }: AnyOperation): string {
  const header = headers['content-type'];
  if (!header) throw new ApiError('MISSING_CONTENT_TYPE');
  const type = contentTypeOf(header)?.type;
  if (!type || !acceptedTypes(declaration).includes(type)) throw new ApiError('INCORRECT_CONTENT_TYPE');
  return type;
}

function acceptedTypes(declaration: AnyOperation['declaration']): readonly string[] {
  if (declaration.strictForm) return [FORM];
  if (needsMultipart(declaration)) return [MULTIPART];
  return [FORM, MULTIPART, ...(declaration.json ? [JSON_TYPE] : [])];
}

/** Reads the body only. Fields in the query, which logs and proxies see, and repeated fields are rejected. */
async function readStrictForm(request: IncomingMessage, operation: AnyOperation, query: Fields): Promise<Payload> {
  const misplaced = Object.keys(operation.declaration.body?.shape ?? {}).filter((name) => name in query);
  const problems: FieldProblem[] = misplaced.map((field) => ({ field, rule: 'body_only' }));
  if (!hasBody(request)) {
    if (problems.length === 0) throw new ApiError('POST_PUT_NO_PAYLOAD');
    return { ...NO_PAYLOAD, problems };
  }
  requireContentType(request, operation);
  const text = await readText(request, STRICT_FORM_BYTES_MAX);
  const fields = parseForm(text);
  for (const field of repeatedIn(text, fields)) problems.push({ field, rule: 'repeated' });
  return { ...ofFields(merged(operation, {}, fields)), problems };
}

function repeatedIn(text: string, { input_json: json, ...plain }: Fields): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = [...new URLSearchParams(text).keys()].filter((name) => seen.has(name) || !seen.add(name));
  const again = typeof json === 'string' ? Object.keys(parseInputJson(json)).filter((name) => name in plain) : [];
  return new Set([...twice, ...again]);
}

function merged({ declaration }: AnyOperation, query: Fields, body: Fields): Fields {
  const fields = mergeInputJson({ ...query, ...body });
  const isEmpty = Object.keys(fields).every((name) => name === 'api_key');
  const needsPayload = ['POST', 'PUT'].includes(declaration.method) && !declaration.emptyBody;
  if (isEmpty && needsPayload) throw new ApiError('POST_PUT_NO_PAYLOAD');
  return fields;
}

async function readParts(app: App, request: IncomingMessage, operation: AnyOperation, query: Fields): Promise<Payload> {
  if (operation.declaration.files) await requireRoom(app, request);
  const keys: string[] = [];
  const discard = async () => void (await Promise.all(keys.map((key) => forget(app, key))));
  const receive = async ({ field, filename, bytes }: FilePart): Promise<Upload> => {
    const key = `incoming/${app.random.uuid()}`;
    keys.push(key);
    return { field, filename, key, ...(await app.storage.put(key, bytes)) };
  };
  try {
    const { fields, files } = await readMultipart(request, request.headers['content-type']!, {
      files: operation.declaration.files ?? {},
      fieldBytesMax: FORM_BYTES_MAX,
      onFile: receive,
    });
    const taken = Object.fromEntries(Object.entries(files).map(([field, uploads]) => [field, uploads[0]]));
    const isEmpty = Object.keys(taken).length === 0;
    return {
      fields: isEmpty ? merged(operation, query, fields) : mergeInputJson({ ...query, ...fields }),
      files: taken,
      uploads: Object.values(files).flat(),
      raw: NO_RAW,
      problems: missingFiles(operation, taken),
      discard,
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** The response is already decided, so a storage failure must not change it. */
async function forget(app: App, key: string): Promise<void> {
  try {
    await app.storage.remove(key);
  } catch (error) {
    app.log.warn('an upload could not be removed; a job will do it', { key, error });
  }
}

/** Rejects the upload before reading it: the reserved space is for the database. */
async function requireRoom(app: App, { headers }: IncomingMessage): Promise<void> {
  const room = await app.storage.room();
  if (room !== undefined && room < Number(headers['content-length'] ?? 1))
    throw new StorageFull('an upload would take the space that is kept free');
}

function missingFiles({ declaration }: AnyOperation, files: Record<string, Upload | undefined>): FieldProblem[] {
  const missing = Object.entries(declaration.files ?? {}).filter(([field, rule]) => rule.required && !files[field]);
  return missing.map(([field]) => ({ field, rule: 'required' }));
}
