import { levelsOf, mayEdit, requireMod, requireModForChange } from '../../catalogue/mods/mods.ts';
import { requireMayAddMods } from '../../catalogue/restrictions/restrictions.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { type Assembly, StorageFull } from '../../platform/storage/storage.ts';
import { keyOf } from './removal.ts';
import * as store from './store.ts';

export type { ReceivedPart, UploadRow } from './store.ts';

export const UPLOAD_INCOMPLETE = 0;
/** Waits to be processed. */
export const UPLOAD_PENDING = 1;
export const UPLOAD_PROCESSING = 2;
export const UPLOAD_COMPLETE = 3;
export const UPLOAD_CANCELLED = 4;

export const SESSIONS_PER_USER = 20;
export const SESSIONS_PER_MOD = 10;

export const uploadListing: Listing = { from: 'u', columns: { status: { kind: 'integer' } }, sorts: {} };

/** The path parameters that identify a session. */
export interface SessionPath {
  readonly gameId: number;
  readonly modId: number;
  readonly uploadId: string;
}

/** A complete upload. */
export interface CompleteUpload {
  readonly key: string;
  readonly bytes: number;
  readonly md5: string;
  readonly sha256: string;
  readonly filename: string;
}

type Reader = Pick<Database, 'first' | 'all'>;

export const scopeOf = keyOf;

/** Uploading needs the same permission as adding files to the mod. */
export async function requireUploader(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  { gameId, modId }: Pick<SessionPath, 'gameId' | 'modId'>,
): Promise<void> {
  const mod = await requireMod(reader, caller, gameId, modId);
  if (!mayEdit(await levelsOf(reader, caller, mod))) throw new ApiError('MODFILE_NO_UPLOAD_PERMISSION');
  await requireMayAddMods(reader, caller, gameId);
}

/** The user of the token or of the user’s own key. */
function personOf(caller: Caller): number | undefined {
  return 'userId' in caller ? caller.userId : undefined;
}

/** Only the uploader can see a session; for others it does not exist. */
function requireOwn(
  upload: store.UploadRow | undefined,
  caller: Caller,
  modId: number,
): asserts upload is store.UploadRow {
  if (!upload || upload.mod_id !== modId || upload.user_id !== personOf(caller))
    throw new ApiError('MULTIPART_UPLOAD_IDENTIFIER_INVALID');
}

export async function requireUpload(reader: Reader, caller: Caller, { modId, uploadId }: SessionPath) {
  const upload = await store.byUploadId(reader, uploadId);
  requireOwn(upload, caller, modId);
  return upload;
}

export async function requireUploadForChange(
  transaction: Transaction,
  caller: Caller,
  { modId, uploadId }: SessionPath,
) {
  const upload = await store.forChange(transaction, uploadId);
  requireOwn(upload, caller, modId);
  return upload;
}

/** Processing that has not renewed its claim has ended with its process. */
export function statusOf({ status, claim_until }: store.UploadRow, now: number): number {
  const isAbandoned = (status === UPLOAD_PENDING || status === UPLOAD_PROCESSING) && claim_until <= now;
  return isAbandoned ? UPLOAD_INCOMPLETE : status;
}

const CLOSED: Readonly<Record<number, ErrorName>> = {
  [UPLOAD_PENDING]: 'MULTIPART_UPLOAD_SESSION_ALREADY_PROCESSING',
  [UPLOAD_PROCESSING]: 'MULTIPART_UPLOAD_SESSION_ALREADY_PROCESSING',
  [UPLOAD_COMPLETE]: 'MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE',
  [UPLOAD_CANCELLED]: 'MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED',
};

/** Only an incomplete session accepts parts and can be completed. */
export function refuseClosed(upload: store.UploadRow, now: number): void {
  const refusal = CLOSED[statusOf(upload, now)];
  if (refusal) throw new ApiError(refusal);
}

/** Distinguishes a full storage from a failing one, because a retry can succeed later. */
export function storageFailure(name: ErrorName, cause: unknown): ApiError {
  return new ApiError(name, { cause, ...(cause instanceof StorageFull && { status: 507 }) });
}

/**
 * Reverts what a failed request has begun. If the database’s disk is full too, the claim expires by itself, and the
 * client gets the first error.
 */
export async function undo(app: App, upload: store.UploadRow, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    app.log.warn('an upload could not be reverted; its claim will expire', { key: keyOf(upload), error });
  }
}

/** Opens a session, or returns the one with the same nonce. */
export async function createUpload(
  app: App,
  caller: UserCaller,
  names: Pick<SessionPath, 'gameId' | 'modId'>,
  file: { filename: string; nonce: string | undefined },
): Promise<store.UploadRow> {
  const room = await app.storage.room();
  const upload = await app.db.write((transaction) => addOrFind(app, transaction, caller, names, file));
  if (upload.handle !== null) return upload;
  try {
    if (room === 0) throw new StorageFull('only the reserved free space is left');
    await assemblyOf(app, upload);
    return upload;
  } catch (cause) {
    await undo(app, upload, async () => {
      const isOver = await app.db.write(({ query }) => store.removeUnbegun(query, upload.id));
      if (isOver) await discard(app, upload);
    });
    throw storageFailure('MULTIPART_UPLOAD_DESTINATION_SESSION_CREATE_FAILED', cause);
  }
}

async function addOrFind(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { gameId, modId }: Pick<SessionPath, 'gameId' | 'modId'>,
  { filename, nonce }: { filename: string; nonce: string | undefined },
): Promise<store.UploadRow> {
  const { userId } = caller;
  await requireModForChange(transaction, caller, gameId, modId);
  await requireUploader(transaction, caller, { gameId, modId });
  await store.takeTurn(transaction, userId);
  const same = nonce ? await store.byNonce(transaction, modId, userId, nonce) : undefined;
  if (same?.status === UPLOAD_COMPLETE) throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE');
  if (same) return same;
  const held = await store.heldBy(transaction, userId, modId);
  if (held.user >= SESSIONS_PER_USER || held.mod >= SESSIONS_PER_MOD)
    throw new ApiError('MULTIPART_UPLOAD_TOO_MANY_SESSIONS');
  const now = app.clock.now();
  return store.add(transaction.query, {
    upload_id: app.random.uuid(),
    game_id: gameId,
    mod_id: modId,
    user_id: userId,
    filename,
    nonce: nonce || null,
    status: UPLOAD_INCOMPLETE,
    total: 0,
    received: 0,
    handle: null,
    claim: null,
    claim_until: 0,
    md5: null,
    sha256: null,
    date_added: now,
    date_updated: now,
  });
}

/** The storage’s assembly of the session. Begins it if the process that opened the session ended before it could. */
export async function assemblyOf(app: App, upload: store.UploadRow): Promise<Assembly> {
  const key = keyOf(upload);
  if (upload.handle !== null) return { key, handle: upload.handle };
  const handle = await app.storage.assemblies.begin(key);
  const isFirst = await app.db.write(({ query }) => store.begun(query, upload.id, handle));
  if (isFirst) return { key, handle };
  const known = (await store.byUploadId(app.db, upload.upload_id))?.handle ?? handle;
  if (known !== handle) await app.storage.assemblies.abandon({ key, handle });
  return { key, handle: known };
}

export async function listUploads(app: App, caller: Caller, gameId: number, modId: number, request: ListRequest) {
  await requireMod(app.db, caller, gameId, modId);
  await requireMayAddMods(app.db, caller, gameId);
  return store.list(app.db.query, { modId, userId: personOf(caller) ?? 0 }, uploadListing, request);
}

export async function listParts(app: App, caller: Caller, named: SessionPath): Promise<store.ReceivedPart[]> {
  await requireMod(app.db, caller, named.gameId, named.modId);
  const upload = await requireUpload(app.db, caller, named);
  return store.partsOf(app.db, upload.upload_id);
}

/** Closes a session, and aborts every request that is sending one of its parts. */
export async function cancelUpload(app: App, caller: Caller, named: SessionPath): Promise<void> {
  await requireMod(app.db, caller, named.gameId, named.modId);
  await requireMayAddMods(app.db, caller, named.gameId);
  const upload = await app.db.write(async (transaction) => {
    const found = await requireUploadForChange(transaction, caller, named);
    const status = statusOf(found, app.clock.now());
    if (status === UPLOAD_CANCELLED) throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED');
    if (status !== UPLOAD_INCOMPLETE) throw new ApiError('MULTIPART_UPLOAD_CANNOT_ABORT');
    return cancelled(app, transaction, found);
  });
  await discard(app, upload);
}

export async function cancelled(app: App, transaction: Transaction, upload: store.UploadRow): Promise<store.UploadRow> {
  transaction.changed(scopeOf(upload));
  const values = { status: UPLOAD_CANCELLED, nonce: null, claim: null, date_updated: app.clock.now() };
  return store.change(transaction.query, upload.id, values);
}

/** The session is already closed, so a job removes the bytes if the storage fails now. */
export async function discard(app: App, upload: store.UploadRow): Promise<void> {
  try {
    await app.storage.assemblies.discard({ key: keyOf(upload), handle: upload.handle ?? '' });
  } catch (error) {
    app.log.warn('the bytes of an upload could not be removed; a job will retry', { key: keyOf(upload), error });
  }
}

/** Returns a complete upload without consuming it. */
export async function requireCompleteUpload(
  reader: Reader,
  caller: Caller,
  modId: number,
  uploadId: string,
): Promise<CompleteUpload> {
  const upload = await store.byUploadId(reader, uploadId);
  requireOwn(upload, caller, modId);
  return toTaken(upload);
}

/**
 * Consumes a complete upload, once; the caller has checked the permission to add files. The bytes must be moved or
 * copied from the key, because they are removed a day later.
 */
export async function consumeUpload(
  app: App,
  transaction: Transaction,
  caller: Caller,
  modId: number,
  uploadId: string,
): Promise<CompleteUpload> {
  const upload = await store.forChange(transaction, uploadId);
  requireOwn(upload, caller, modId);
  const taken = toTaken(upload);
  await store.change(transaction.query, upload.id, { used: 1, nonce: null, date_updated: app.clock.now() });
  return taken;
}

function toTaken(upload: store.UploadRow): CompleteUpload {
  if (upload.used) throw new ApiError('MULTIPART_UPLOAD_IDENTIFIER_INVALID');
  if (upload.status === UPLOAD_CANCELLED) throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED');
  if (upload.status !== UPLOAD_COMPLETE) throw new ApiError('MULTIPART_UPLOAD_SESSION_NOT_COMPLETE');
  const { total, md5, sha256, filename } = upload;
  return { key: keyOf(upload), bytes: total, md5: md5!, sha256: sha256!, filename };
}
