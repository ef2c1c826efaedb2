import type { CallOptions, Client, Input } from '../calls/client.ts';
import { isApiError } from '../calls/errors.ts';
import { items } from '../calls/pages.ts';
import { waitFor } from '../calls/retries.ts';
import {
  MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE,
  MULTIPART_UPLOAD_PARTS_MISSING,
  MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE,
  MULTIPART_UPLOAD_SESSION_ALREADY_PROCESSING,
} from '../contract/error-refs.ts';
import type { Modfile } from '../contract/operations.ts';

/** Every part has this length, except the last one. */
const PART_BYTES = 52_428_800;
const PROCESSING_WAIT_MS = 2_000;
const ROUNDS_MAX = 3;
const PATH = '/games/{game_id}/mods/{mod_id}/files/multipart';

export interface UploadTarget {
  game_id: number;
  mod_id: number;
}

export interface UploadProgress {
  /** What the service has stored, of this and of earlier attempts. */
  readonly storedBytes: number;
  readonly totalBytes: number;
}

/** Remembers finished uploads until a modfile uses them. `localStorage` fits. */
export interface UploadStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): void | Promise<void>;
  removeItem(key: string): void | Promise<void>;
}

export interface UploadOptions {
  /** Ends in `.zip`. Default: the name of a `File`. */
  filename?: string;
  /** Identifies the content, in at most 64 characters. Default: a SHA-256 over the file, which reads all of it first. */
  fingerprint?: string;
  /** How many parts are sent at a time. Default: 3. */
  parallel?: number;
  storage?: UploadStorage;
  onProgress?: (progress: UploadProgress) => void;
  /** Aborting pauses the upload: the next call with the same file sends the missing parts. */
  signal?: AbortSignal | undefined;
}

interface Upload {
  client: Client;
  target: UploadTarget;
  file: Blob;
  uploadId: string;
  options: UploadOptions;
}

/**
 * Uploads an archive in parts and returns the `upload_id` for `POST …/files`. The service finds an unfinished upload of
 * the same content by its fingerprint, also after a reload or in another process.
 */
export async function uploadInParts(
  client: Client,
  target: UploadTarget,
  file: Blob,
  options: UploadOptions = {},
): Promise<string> {
  const fingerprint = options.fingerprint ?? (await fingerprintOf(file, options.signal));
  return sendAll(client, target, file, { ...options, fingerprint });
}

/** Uploads an archive in parts, and adds it to the mod. It replaces `POST …/files` with the archive in the form. */
export async function uploadFile(
  client: Client,
  target: UploadTarget,
  file: Blob,
  details: Omit<Input<'POST /games/{game_id}/mods/{mod_id}/files'>, 'game_id' | 'mod_id' | 'upload_id' | 'filedata'>,
  options: UploadOptions = {},
): Promise<Modfile> {
  const { signal, storage } = options;
  const fingerprint = options.fingerprint ?? (await fingerprintOf(file, signal));
  const upload_id = await sendAll(client, target, file, { ...options, fingerprint });
  const added = await client.call(
    'POST /games/{game_id}/mods/{mod_id}/files',
    { ...details, ...target, upload_id },
    { signal },
  );
  await storage?.removeItem(keyOf(client, target, fingerprint));
  return added;
}

const keyOf = ({ url }: Client, { game_id, mod_id }: UploadTarget, fingerprint: string) =>
  `modstead-upload:${url.host}:${game_id}:${mod_id}:${fingerprint}`;

async function sendAll(
  client: Client,
  target: UploadTarget,
  file: Blob,
  options: UploadOptions & { fingerprint: string },
): Promise<string> {
  const { storage, fingerprint } = options;
  const key = keyOf(client, target, fingerprint);
  const stored = (await storage?.getItem(key)) ?? undefined;
  const uploadId = await openSession(client, target, fingerprint, stored, file, options);
  await storage?.setItem(key, uploadId);
  await finish({ client, target, file, uploadId, options });
  return uploadId;
}

/** A session of the same content, or a new one. A finished one can be used only if its id was stored. */
async function openSession(
  client: Client,
  target: UploadTarget,
  nonce: string,
  stored: string | undefined,
  file: Blob,
  { filename, signal }: UploadOptions,
): Promise<string> {
  const name = filename ?? ('name' in file && typeof file.name === 'string' ? file.name : 'archive.zip');
  const open = (given: string) =>
    client.call(`POST ${PATH}`, { ...target, filename: name, nonce: given }, { signal, idempotent: true });
  try {
    return (await open(nonce)).upload_id;
  } catch (error) {
    if (!isApiError(error, MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE)) throw error;
    return stored ?? (await open(crypto.randomUUID())).upload_id;
  }
}

async function finish(upload: Upload): Promise<void> {
  for (let round = 1; ; round++) {
    await sendMissing(upload);
    const outcome = await complete(upload);
    if (outcome === 'complete') return;
    if (round === ROUNDS_MAX) throw outcome;
  }
}

/** Sends the parts that the service lacks. */
async function sendMissing({ client, target, file, uploadId, options }: Upload): Promise<void> {
  const { parallel = 3, onProgress, signal } = options;
  const present = new Set<number>();
  let storedBytes = 0;
  const report = (bytes: number) => {
    storedBytes += bytes;
    onProgress?.({ storedBytes, totalBytes: file.size });
  };
  for await (const part of items(client, `GET ${PATH}`, { ...target, upload_id: uploadId }, { signal })) {
    present.add(part.part_number);
    storedBytes += part.part_size;
  }
  report(0);
  const count = Math.ceil(file.size / PART_BYTES);
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !present.has(index + 1));
  const send = async () => {
    for (let index = missing.shift(); index !== undefined; index = missing.shift()) {
      const start = index * PART_BYTES;
      const body = file.slice(start, start + PART_BYTES);
      const headers = {
        'Content-Range': `bytes ${start}-${start + body.size - 1}/${file.size}`,
        Digest: `sha-256=${hex(await digest(body))}`,
      };
      // A repeated part is acknowledged again.
      const callOptions: CallOptions = { signal, headers, idempotent: true };
      await client.call(`PUT ${PATH}`, { ...target, upload_id: uploadId, body }, callOptions);
      report(body.size);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, missing.length) }, send));
}

/** Returns the error if parts have to be sent again. */
async function complete({ client, target, uploadId, options: { signal } }: Upload): Promise<unknown> {
  const wait = client.options.retry?.wait ?? waitFor;
  for (;;)
    try {
      await client.call(`POST ${PATH}/complete`, { ...target, upload_id: uploadId }, { signal, idempotent: true });
      return 'complete';
    } catch (error) {
      if (isApiError(error, MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE)) return 'complete';
      if (isApiError(error, MULTIPART_UPLOAD_PARTS_MISSING, MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE)) return error;
      // Another request, possibly one whose response was lost, is assembling the file.
      if (!isApiError(error, MULTIPART_UPLOAD_SESSION_ALREADY_PROCESSING)) throw error;
      await wait(PROCESSING_WAIT_MS, signal);
    }
}

/** The SHA-256 over those of all parts. Browsers and Node.js compute digests outside of the main thread. */
async function fingerprintOf(file: Blob, signal: AbortSignal | undefined): Promise<string> {
  const digests: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; start < file.size; start += PART_BYTES) {
    signal?.throwIfAborted();
    digests.push(await digest(file.slice(start, start + PART_BYTES)));
  }
  return hex(await digest(new Blob(digests)));
}

const digest = async (blob: Blob) => new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
