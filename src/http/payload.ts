import type { IncomingMessage } from 'node:http';
import type { App } from '../context.ts';
import { ApiError } from '../errors/catalogue.ts';
import { type AnyOperation, takesBody, type Upload } from './operation.ts';
import { contentTypeOf, readText } from './request/body.ts';
import { type Fields, parseForm } from './request/forms.ts';
import { mergeInputJson } from './request/json.ts';
import { type FilePart, readMultipart } from './request/multipart.ts';

const FORM_BYTES_MAX = 4 * 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

export interface Payload {
  readonly fields: Fields;
  readonly files: Readonly<Record<string, Upload | undefined>>;
  /** Forgets uploads that the handler did not take. */
  discard(): Promise<void>;
}

const discardNothing = async () => {};

/** What a write was sent: fields of query and body together, the body's winning (`clients.md`, 10). */
export async function readPayload(
  app: App,
  request: IncomingMessage,
  operation: AnyOperation,
  query: Fields,
): Promise<Payload> {
  if (!hasBody(request)) return payloadOfQuery(operation, query);
  if (!takesBody(operation)) return { fields: query, files: {}, discard: discardNothing };
  const { type } = requireContentType(request, operation);
  if (type === MULTIPART) return readParts(app, request, operation, query);
  const fields = mergeInputJson(parseForm(await readText(request, FORM_BYTES_MAX)));
  return payloadOf(operation, query, fields);
}

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function requireContentType(request: IncomingMessage, { declaration }: AnyOperation): { type: string } {
  const header = request.headers['content-type'];
  if (!header) throw new ApiError('MISSING_CONTENT_TYPE');
  const contentType = contentTypeOf(header);
  const accepted = declaration.files ? [MULTIPART] : [FORM, MULTIPART];
  if (!contentType || !accepted.includes(contentType.type)) throw new ApiError('INCORRECT_CONTENT_TYPE');
  return contentType;
}

function payloadOfQuery(operation: AnyOperation, query: Fields): Payload {
  return payloadOf(operation, query, mergeInputJson(query));
}

function payloadOf(operation: AnyOperation, query: Fields, body: Fields): Payload {
  const fields: Fields = { ...query, ...body };
  const isEmpty = Object.keys(fields).every((name) => name === 'api_key');
  const { method } = operation.declaration;
  if (isEmpty && takesBody(operation) && (method === 'POST' || method === 'PUT'))
    throw new ApiError('POST_PUT_NO_PAYLOAD');
  return { fields, files: {}, discard: discardNothing };
}

async function readParts(app: App, request: IncomingMessage, operation: AnyOperation, query: Fields): Promise<Payload> {
  const keys: string[] = [];
  const discard = async () => void (await Promise.all(keys.map((key) => app.storage.remove(key))));
  const receive = async ({ field, filename, stream }: FilePart): Promise<Upload> => {
    const key = `incoming/${app.random.uuid()}`;
    keys.push(key);
    return { field, filename, key, ...(await app.storage.put(key, stream)) };
  };
  try {
    const { files: rules = {} } = operation.declaration;
    const { fields, files } = await readMultipart(request, request.headers['content-type']!, {
      files: rules,
      fieldBytesMax: FORM_BYTES_MAX,
      onFile: receive,
    });
    const taken = Object.fromEntries(Object.entries(files).map(([field, uploads]) => [field, uploads[0]]));
    if (Object.keys(taken).length === 0) payloadOf(operation, query, fields);
    requireFiles(operation, taken);
    return { fields: { ...query, ...fields }, files: taken, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

function requireFiles({ declaration }: AnyOperation, files: Record<string, Upload | undefined>): void {
  const missing = Object.entries(declaration.files ?? {}).filter(([field, rule]) => rule.required && !files[field]);
  if (missing.length > 0)
    throw new ApiError('VALIDATION_GENERIC', { fields: missing.map(([field]) => ({ field, rule: 'required' })) });
}
