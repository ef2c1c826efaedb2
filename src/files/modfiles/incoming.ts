import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { Incoming } from './modfiles.ts';

const MEGABYTE = 1_024 * 1_024;

/** The archive in the body of any operation that takes one. Larger archives need a multipart upload. */
export const FILEDATA = { bytesMax: 500 * MEGABYTE, says: 'A zip archive.' };

export const INCOMING_ERRORS = [
  'MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED',
  'MULTIPART_UPLOAD_IDENTIFIER_INVALID',
  'MULTIPART_UPLOAD_SESSION_NOT_COMPLETE',
] as const satisfies readonly ErrorName[];

/** The archive of the request or, instead, the upload session that it names. */
export function incomingOf(
  files: Readonly<Record<string, Incoming | undefined>>,
  uploadId: string | undefined,
): Incoming {
  const incoming = files['filedata'] ?? (uploadId ? { uploadId } : undefined);
  if (!incoming) throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'filedata', rule: 'required' }] });
  return incoming;
}
