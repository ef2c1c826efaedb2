import type { CallOptions, Client, Input } from '../calls/client.ts';
import { ConnectionError, isApiError } from '../calls/errors.ts';
import { items } from '../calls/pages.ts';
import { waitFor } from '../calls/retries.ts';
import {
  MULTIPART_UPLOAD_IDENTIFIER_INVALID,
  MULTIPART_UPLOAD_NO_PARTS,
  MULTIPART_UPLOAD_PART_ALREADY_UPLOADED,
  MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE,
  MULTIPART_UPLOAD_PARTS_MISSING,
  MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED,
  MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE,
  MULTIPART_UPLOAD_SESSION_ALREADY_PROCESSING,
} from '../contract/error-refs.ts';
import type { Modfile } from '../contract/operations.ts';

/** Every part has this length, except the last one. */
const PART_BYTES = 52_428_800;
const PROCESSING_WAIT_MS = 2_000;
const ROUNDS_MAX = 5;
/** How often a file is looked for that an earlier request adds. */
const LOOKS_MAX = 15;
const CONFLICT = 409;
const STORAGE_FULL = 507;
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
  /** A lost connection ends the call at once, for callers that wait for it themselves. The next call continues. */
  failsOffline?: boolean;
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

type Details = Omit<
  Input<'POST /games/{game_id}/mods/{mod_id}/files'>,
  'game_id' | 'mod_id' | 'upload_id' | 'filedata'
>;

/**
 * Uploads an archive in parts, and adds it to the mod. It replaces `POST …/files` with the archive in the form. With a
 * storage it can be called again after it was interrupted at any moment, also while the service was adding the file.
 */
export async function uploadFile(
  client: Client,
  target: UploadTarget,
  file: Blob,
  details: Details,
  options: UploadOptions = {},
): Promise<Modfile> {
  const { storage } = options;
  const fingerprint = options.fingerprint ?? (await fingerprintOf(file, options.signal));
  const key = keyOf(client, target, fingerprint);
  const earlier = (await storage?.getItem(key)) ?? undefined;
  const uploadOf = (uploadId: string): Upload => ({ client, target, file, uploadId, options });
  const added =
    (earlier === undefined ? undefined : await addEarlier(uploadOf(earlier), details)) ??
    (await addFile(uploadOf(await sendAll(client, target, file, { ...options, fingerprint })), details));
  await storage?.removeItem(key);
  return added;
}

const UNUSABLE = [
  MULTIPART_UPLOAD_IDENTIFIER_INVALID,
  MULTIPART_UPLOAD_NO_PARTS,
  MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED,
];

/** Adds the file of an upload that an earlier call has finished. Undefined if there is none. */
async function addEarlier(upload: Upload, details: Details): Promise<Modfile | undefined> {
  try {
    if ((await complete(upload)) !== 'complete') return undefined;
    upload.options.onProgress?.({ storedBytes: upload.file.size, totalBytes: upload.file.size });
    return await addFile(upload, details);
  } catch (error) {
    if (isApiError(error, ...UNUSABLE)) return undefined;
    throw error;
  }
}

/** Adds the file, unless an earlier request did, whose response was lost. */
async function addFile({ client, target, file, uploadId, options }: Upload, details: Details): Promise<Modfile> {
  const { signal } = options;
  try {
    const input = { ...details, ...target, upload_id: uploadId };
    return await client.call('POST /games/{game_id}/mods/{mod_id}/files', input, { signal });
  } catch (error) {
    const isRepeated = isApiError(error) && error.status === CONFLICT;
    if (!isRepeated && !isApiError(error, MULTIPART_UPLOAD_IDENTIFIER_INVALID)) throw error;
    const added = await findAdded(client, target, details.filehash ?? (await md5Of(file)), signal);
    if (!added) throw error;
    return describe(client, target, added, details, signal);
  }
}

/** The file with these bytes among the newest ones. A request that is still being processed adds it soon. */
async function findAdded(
  client: Client,
  target: UploadTarget,
  md5: string,
  signal: AbortSignal | undefined,
): Promise<Modfile | undefined> {
  const wait = client.options.retry?.wait ?? waitFor;
  for (let look = 1; ; look++) {
    const newest = { ...target, _sort: '-id', _limit: 5 } as const;
    const { data } = await client.call('GET /games/{game_id}/mods/{mod_id}/files', newest, { signal });
    const added = data.find(({ filehash }) => filehash.md5 === md5.toLowerCase());
    if (added || look === LOOKS_MAX) return added;
    await wait(PROCESSING_WAIT_MS, signal);
  }
}

/** The earlier request may have said something else about the file. */
async function describe(
  client: Client,
  target: UploadTarget,
  file: Modfile,
  { version, changelog, metadata_blob }: Details,
  signal: AbortSignal | undefined,
): Promise<Modfile> {
  const wanted = Object.entries({ version, changelog, metadata_blob });
  const changed = wanted.filter(([name, value]) => value !== undefined && value !== file[name as keyof Modfile]);
  if (changed.length === 0) return file;
  const input = { ...target, file_id: file.id, ...Object.fromEntries(changed) };
  return client.call('PUT /games/{game_id}/mods/{mod_id}/files/{file_id}', input, { signal, idempotent: true });
}

async function md5Of(file: Blob): Promise<string> {
  const { createMd5 } = await import('../downloads/md5.ts');
  const md5 = createMd5();
  for (let start = 0; start < file.size; start += PART_BYTES)
    md5.update(new Uint8Array(await file.slice(start, start + PART_BYTES).arrayBuffer()));
  return md5.digest();
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
  const { client, options } = upload;
  const wait = client.options.retry?.wait ?? waitFor;
  for (let round = 1; ; round++) {
    const outcome = await sendAndComplete(upload);
    if (outcome === 'complete') return;
    if (round === ROUNDS_MAX) throw outcome;
    if (isPassing(outcome)) await wait(PROCESSING_WAIT_MS * round, options.signal);
  }
}

/** Returns the error if another round may succeed. */
async function sendAndComplete(upload: Upload): Promise<unknown> {
  try {
    await sendMissing(upload);
    return await complete(upload);
  } catch (error) {
    const { signal, failsOffline } = upload.options;
    signal?.throwIfAborted();
    if (!isPassing(error) || (failsOffline && error instanceof ConnectionError)) throw error;
    return error;
  }
}

/** A failure of the service, its storage or the network. The parts that were acknowledged stay. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || (isApiError(error) && error.status >= 500 && error.status !== STORAGE_FULL);

/** Sends the parts that the service lacks. */
async function sendMissing(upload: Upload): Promise<void> {
  const { client, target, file, uploadId, options } = upload;
  const { parallel = 3, onProgress, signal } = options;
  let isDirect = true;
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
      const range = `bytes ${start}-${start + body.size - 1}/${file.size}`;
      const part = { range, digest: `sha-256=${hex(await digest(body))}`, body };
      isDirect &&= await sendDirectly(upload, part);
      if (!isDirect) await sendPart(upload, part);
      report(body.size);
    }
  };
  const senders = Array.from({ length: Math.min(parallel, missing.length) }, send);
  // All of them end first, so that none sends a part that the next round sends too.
  const failed = (await Promise.allSettled(senders)).find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
}

interface Part {
  readonly range: string;
  readonly digest: string;
  readonly body: Blob;
}

async function sendPart({ client, target, uploadId, options: { signal } }: Upload, part: Part): Promise<void> {
  const headers = { 'Content-Range': part.range, Digest: part.digest };
  // A repeated part is acknowledged again.
  const callOptions: CallOptions = { signal, headers, idempotent: true };
  try {
    await client.call(`PUT ${PATH}`, { ...target, upload_id: uploadId, body: part.body }, callOptions);
  } catch (error) {
    // Another request took over. Whether the part has arrived is seen when the upload is completed.
    if (!isApiError(error, MULTIPART_UPLOAD_PART_ALREADY_UPLOADED)) throw error;
  }
}

/** Sends a part to the object storage behind the service; false if there is none, or it cannot be reached from here. */
async function sendDirectly({ client, target, uploadId, options }: Upload, part: Part): Promise<boolean> {
  const { signal } = options;
  const named = { ...target, upload_id: uploadId, content_range: part.range, digest: part.digest };
  try {
    const { url } = await client.call(`POST ${PATH}/links`, named, { signal, idempotent: true });
    if (url === '') return false;
    const send = client.options.fetch ?? fetch;
    const init = { method: 'PUT', body: part.body, credentials: 'omit', ...(signal && { signal }) } as const;
    if (!(await send(url, init)).ok) return false;
    await client.call(`POST ${PATH}/parts`, named, { signal, idempotent: true });
    return true;
  } catch (error) {
    signal?.throwIfAborted();
    if (isApiError(error, MULTIPART_UPLOAD_PART_ALREADY_UPLOADED)) return true;
    return false;
  }
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
