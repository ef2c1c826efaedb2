import type { ServerResponse } from 'node:http';
import { isUnavailable } from '../database/failures.ts';
import { ApiError } from '../errors/catalogue.ts';
import { errorMessage, validationMessage } from '../errors/messages.ts';
import type { Language } from '../localisation/languages.ts';
import { StorageFull, StorageUnavailable } from '../storage/storage.ts';
import { isNotModified } from './entity-tag.ts';
import { sendBatched } from './response-batching.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export interface ErrorBody {
  error: { code: number; error_ref: number; message: string; errors?: Record<string, string> };
}

export function errorBody(error: ApiError, language: Language): ErrorBody {
  const body: ErrorBody = {
    error: {
      code: error.status,
      error_ref: error.ref,
      message: error.text ?? errorMessage(error.error, language, error.values),
    },
  };
  if (error.status === 422 && error.fields?.length) {
    const texts = error.fields.map(({ field, rule, values }) => [
      field,
      validationMessage(rule, language, { field, ...values }),
    ]);
    body.error.errors = Object.fromEntries(texts);
  }
  return body;
}

/** Headers of every API response. */
export const COMMON_HEADERS: readonly string[] = [
  'content-type',
  'application/json; charset=utf-8',
  'cache-control',
  'private, no-store',
  'vary',
  'accept-encoding, accept-language, authorization, origin',
  ...SECURITY_HEADERS,
];

/**
 * Sends JSON with a Content-Length, because a shipped client cannot read chunked responses (docs/API-QUIRKS.md, 3). A
 * string body leaves in one write with its head.
 */
export function send(
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: readonly string[],
  bytes = Buffer.byteLength(text),
): void {
  response.writeHead(status, [...COMMON_HEADERS, 'content-length', String(bytes), ...headers]);
  if (typeof text === 'string') sendBatched(response, text);
  else response.end(text, () => release(text));
}

/** Frees sent bytes at once: leaving them to the garbage collector costs more than producing them. */
function release({ buffer, byteLength }: Buffer): void {
  const isWhole = buffer.byteLength === byteLength;
  if (isWhole) (buffer as ArrayBuffer).transfer(0);
}

/** Headers of a response that the client may keep if it revalidates it with its entity tag. */
export const REVALIDATED_HEADERS: readonly string[] = COMMON_HEADERS.with(
  COMMON_HEADERS.indexOf('cache-control') + 1,
  'private, no-cache',
);

/** A JSON response to a read. `cached` ones depend on nothing but the caller's visibility class. */
export interface ReadAnswer {
  readonly text: string | Buffer;
  readonly bytes: number;
  readonly entityTag: string;
  readonly cached: boolean;
}

/** Sends a read with its entity tag, or only that the client's copy is current. */
export function sendRead(
  response: ServerResponse,
  ifNoneMatch: string | undefined,
  { text, bytes, entityTag, cached }: ReadAnswer,
  headers: readonly string[],
): void {
  if (isNotModified(ifNoneMatch, entityTag)) return void sendNotModified(response, entityTag, headers);
  const common = cached ? REVALIDATED_HEADERS : COMMON_HEADERS;
  response.writeHead(200, [...common, 'content-length', String(bytes), 'etag', entityTag, ...headers]);
  if (typeof text === 'string') sendBatched(response, text);
  else response.end(text, () => release(text));
}

/** Repeats what a cache stores with the response (RFC 9110, section 15.4.5). */
export function sendNotModified(response: ServerResponse, entityTag: string, headers: readonly string[]): void {
  const [, , ...common] = REVALIDATED_HEADERS;
  response.writeHead(304, [...common, 'etag', entityTag, ...headers]);
  sendBatched(response, '');
}

export function sendCsv(
  response: ServerResponse,
  { text, filename }: { text: string; filename: string },
  headers: readonly string[],
): void {
  const [, , ...common] = COMMON_HEADERS;
  const type = ['content-type', 'text/csv; charset=utf-8', 'content-disposition', `attachment; filename="${filename}"`];
  response.writeHead(200, [...type, ...common, 'content-length', String(Buffer.byteLength(text)), ...headers]);
  response.end(text);
}

export function sendNothing(response: ServerResponse, status: 204, headers: readonly string[]): void {
  response.writeHead(status, ['cache-control', 'private, no-store', ...headers]);
  sendBatched(response, '');
}

const OUTAGES = new Set(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'ENOSPC', 'EDQUOT', 'EROFS']);

/** SQLite result codes for a read-only disk, an I/O error and a full disk. */
const SQLITE_OUTAGES = new Set([8, 10, 13]);

/** Maps an error to the one that the client sees. An unexpected error is our bug, so its details stay in the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageFull) return new ApiError('UNEXPECTED_SERVICE_OUTAGE', { cause: error, status: 507 });
  const name = isOutage(error) ? 'UNEXPECTED_SERVICE_OUTAGE' : 'UNEXPECTED_OPERATION_FAILURE';
  return new ApiError(name, { cause: error });
}

/** True when a service we depend on is unavailable. Often only the error's cause shows it. */
function isOutage(error: unknown): boolean {
  const { code, errcode, cause } = (error ?? {}) as { code?: string; errcode?: number; cause?: unknown };
  return (
    error instanceof StorageUnavailable ||
    OUTAGES.has(code ?? '') ||
    SQLITE_OUTAGES.has((errcode ?? 0) & 0xff) ||
    isUnavailable(error) ||
    (cause !== undefined && isOutage(cause))
  );
}
