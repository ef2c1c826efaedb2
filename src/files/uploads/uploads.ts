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
/** Waits for its turn to be processed. */
export const UPLOAD_PENDING = 1;
export const UPLOAD_PROCESSING = 2;
export const UPLOAD_COMPLETE = 3;
export const UPLOAD_CANCELLED = 4;

export const SESSIONS_PER_USER = 20;
export const SESSIONS_PER_MOD = 10;

export const uploadListing: Listing = { from: 'u', columns: { status: { kind: 'integer' } }, sorts: {} };

/** Which session is meant, as a request names it. */
export interface Named {
  readonly gameId: number;
  readonly modId: number;
  readonly uploadId: string;
}

/** A file that came whole. */
export interface TakenUpload {
  readonly key: string;
  readonly bytes: number;
  readonly md5: string;
  readonly sha256: string;
  readonly filename: string;
}

type Reader = Pick<Database, 'first' | 'all'>;

export const scopeOf = keyOf;

/** Whoever may add files to a mod may upload them. */
export async function requireUploader(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  { gameId, modId }: Pick<Named, 'gameId' | 'modId'>,
): Promise<void> {
  const mod = await requireMod(reader, caller, gameId, modId);
  if (!mayEdit(await levelsOf(reader, caller, mod))) throw new ApiError('MODFILE_NO_UPLOAD_PERMISSION');
  await requireMayAddMods(reader, caller, gameId);
}

/** The person who calls, by token or by a key of their own. */
function personOf(caller: Caller): number | undefined {
  return 'userId' in caller ? caller.userId : undefined;
}

/** A session is its uploader's alone: to others it is as if there were none. */
function requireOwn(
  upload: store.UploadRow | undefined,
  caller: Caller,
  modId: number,
): asserts upload is store.UploadRow {
  if (!upload || upload.mod_id !== modId || upload.user_id !== personOf(caller))
    throw new ApiError('MULTIPART_UPLOAD_IDENTIFIER_INVALID');
}

export async function requireUpload(reader: Reader, caller: Caller, { modId, uploadId }: Named) {
  const upload = await store.byUploadId(reader, uploadId);
  requireOwn(upload, caller, modId);
  return upload;
}

export async function requireUploadForChange(transaction: Transaction, caller: Caller, { modId, uploadId }: Named) {
  const upload = await store.forChange(transaction, uploadId);
  requireOwn(upload, caller, modId);
  return upload;
}

/** Processing of which there was no sign of life for long has ended with its process. */
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

/** Only an incomplete session takes parts and can be completed. */
export function refuseClosed(upload: store.UploadRow, now: number): void {
  const refusal = CLOSED[statusOf(upload, now)];
  if (refusal) throw new ApiError(refusal);
}

/** A storage that is full is told from one that fails: the same may succeed later. */
export function storageFailure(name: ErrorName, cause: unknown): ApiError {
  return new ApiError(name, { cause, ...(cause instanceof StorageFull && { status: 507 }) });
}

/**
 * Takes back what a failed request had begun. A disk that is full may be the database's as well: then the claim runs out
 * by itself, and the client hears of the first failure, not of this one.
 */
export async function undo(app: App, upload: store.UploadRow, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    app.log.warn('what an upload had begun could not be taken back; it ends by itself', { key: keyOf(upload), error });
  }
}

/** Opens a session, or finds the one that was opened with the same nonce. */
export async function createUpload(
  app: App,
  caller: UserCaller,
  names: Pick<Named, 'gameId' | 'modId'>,
  file: { filename: string; nonce: string | undefined },
): Promise<store.UploadRow> {
  const room = await app.storage.room();
  const upload = await app.db.write((transaction) => addOrFind(app, transaction, caller, names, file));
  if (upload.handle !== null) return upload;
  try {
    if (room === 0) throw new StorageFull('only the space that is kept free is left');
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
  { gameId, modId }: Pick<Named, 'gameId' | 'modId'>,
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

/** The session as the storage knows it; a process that ended too early may have left that to whoever comes next. */
export async function assemblyOf(app: App, upload: store.UploadRow): Promise<Assembly> {
  const key = keyOf(upload);
  if (upload.handle !== null) return { key, handle: upload.handle };
  const handle = await app.storage.assemblies.begin(key);
  const isFirst = await app.db.write(({ query }) => store.begun(query, upload.id, handle));
  if (isFirst) return { key, handle };
  const known = (await store.byUploadId(app.db, upload.upload_id))?.handle ?? handle;
  if (known !== handle) await app.storage.assemblies.forsake({ key, handle });
  return { key, handle: known };
}

export async function listUploads(app: App, caller: Caller, gameId: number, modId: number, request: ListRequest) {
  await requireMod(app.db, caller, gameId, modId);
  await requireMayAddMods(app.db, caller, gameId);
  return store.list(app.db.query, { modId, userId: personOf(caller) ?? 0 }, uploadListing, request);
}

export async function listParts(app: App, caller: Caller, named: Named): Promise<store.ReceivedPart[]> {
  await requireMod(app.db, caller, named.gameId, named.modId);
  const upload = await requireUpload(app.db, caller, named);
  return store.partsOf(app.db, upload.upload_id);
}

/** Ends a session, and with it every request that still sends a part. */
export async function cancelUpload(app: App, caller: Caller, named: Named): Promise<void> {
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

/** The session is closed by now, so bytes that stay because the storage fails are left to the job. */
export async function discard(app: App, upload: store.UploadRow): Promise<void> {
  try {
    await app.storage.assemblies.discard({ key: keyOf(upload), handle: upload.handle ?? '' });
  } catch (error) {
    app.log.warn('the bytes of an upload could not be removed; they will be later', { key: keyOf(upload), error });
  }
}

/** Looks at a file that came whole, without taking it. */
export async function requireTakeable(
  reader: Reader,
  caller: Caller,
  modId: number,
  uploadId: string,
): Promise<TakenUpload> {
  const upload = await store.byUploadId(reader, uploadId);
  requireOwn(upload, caller, modId);
  return toTaken(upload);
}

/**
 * Hands over a file that came whole, once. Who may add a file to the mod is asked before. The bytes at the key are to be
 * moved or copied to where they stay: a day later they are removed.
 */
export async function takeUpload(
  app: App,
  transaction: Transaction,
  caller: Caller,
  modId: number,
  uploadId: string,
): Promise<TakenUpload> {
  const upload = await store.forChange(transaction, uploadId);
  requireOwn(upload, caller, modId);
  const taken = toTaken(upload);
  await store.change(transaction.query, upload.id, { used: 1, nonce: null, date_updated: app.clock.now() });
  return taken;
}

function toTaken(upload: store.UploadRow): TakenUpload {
  if (upload.used) throw new ApiError('MULTIPART_UPLOAD_IDENTIFIER_INVALID');
  if (upload.status === UPLOAD_CANCELLED) throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED');
  if (upload.status !== UPLOAD_COMPLETE) throw new ApiError('MULTIPART_UPLOAD_SESSION_NOT_COMPLETE');
  const { total, md5, sha256, filename } = upload;
  return { key: keyOf(upload), bytes: total, md5: md5!, sha256: sha256!, filename };
}
