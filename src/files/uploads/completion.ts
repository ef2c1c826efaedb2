import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { PartsDamaged, type StoredObject } from '../../platform/storage/storage.ts';
import { claimUntil, RENEW_MS } from './claims.ts';
import * as store from './store.ts';
import {
  assemblyOf,
  refuseClosed,
  requireUploader,
  requireUploadForChange,
  type SessionPath,
  storageFailure,
  UPLOAD_COMPLETE,
  UPLOAD_INCOMPLETE,
  UPLOAD_PENDING,
  UPLOAD_PROCESSING,
  type UploadRow,
  undo,
} from './uploads.ts';

/** The length of an empty zip archive. */
const FILE_BYTES_MIN = 22;

interface Claimed {
  readonly upload: UploadRow;
  readonly parts: readonly store.ReceivedPart[];
}

/** Assembles all parts into one file. Of several concurrent requests one does it, even if its client disconnects. */
export async function completeUpload(app: App, caller: Caller, named: SessionPath): Promise<UploadRow> {
  await requireUploader(app.db, caller, named);
  const claimed = await app.db.write((transaction) => claim(app, transaction, caller, named));
  const beat = setInterval(() => void renew(app, claimed.upload).catch(() => {}), RENEW_MS).unref();
  try {
    const stored = await assemble(app, claimed);
    return await completed(app, claimed.upload, stored);
  } finally {
    clearInterval(beat);
  }
}

async function claim(app: App, transaction: Transaction, caller: Caller, named: SessionPath): Promise<Claimed> {
  const upload = await requireUploadForChange(transaction, caller, named);
  refuseClosed(upload, app.clock.now());
  const parts = await store.partsOf(transaction, upload.upload_id);
  if (parts.length === 0) throw new ApiError('MULTIPART_UPLOAD_NO_PARTS');
  if (upload.received !== upload.total) throw new ApiError('MULTIPART_UPLOAD_PARTS_MISSING');
  if (upload.total < FILE_BYTES_MIN) throw new ApiError('MULTIPART_UPLOAD_FILE_TOO_SMALL');
  const values = { status: UPLOAD_PENDING, claim: app.random.hex(32), claim_until: claimUntil(app) };
  return { upload: await store.change(transaction.query, upload.id, values), parts };
}

/** Losing the claim is harmless: the request that has it then reaches the same result, and only that one stores it. */
const renew = (app: App, upload: UploadRow, status?: number) =>
  app.db.write(({ query }) =>
    store.changeClaimed(query, upload, {
      claim_until: claimUntil(app),
      ...(status !== undefined && { status }),
    }),
  );

async function assemble(app: App, { upload, parts }: Claimed): Promise<StoredObject> {
  try {
    const pieces = parts.map(({ part_number, start, bytes, sha256, tag }) => ({
      number: part_number,
      start,
      bytes,
      sha256,
      tag,
    }));
    return await app.storage.assemblies.finish(await assemblyOf(app, upload), pieces, async () => {
      await renew(app, upload, UPLOAD_PROCESSING);
    });
  } catch (cause) {
    const damaged = cause instanceof PartsDamaged ? parts.filter((part) => cause.parts.includes(part.part_number)) : [];
    const isAborted = cause instanceof PartsDamaged && cause.isAborted;
    const reopening = () => app.db.write((transaction) => reopen(transaction, upload, { damaged, isAborted }));
    // A client has to repeat parts only if the database records that they are lost.
    if (damaged.length > 0) await reopening();
    else await undo(app, upload, reopening);
    const refusal =
      damaged.length > 0 ? 'MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE' : 'MULTIPART_UPLOAD_BUILD_HASH_FAILED';
    throw storageFailure(refusal, cause);
  }
}

/** Lets the session accept parts again, first of all those whose bytes are not the acknowledged ones. */
async function reopen(
  { query }: Transaction,
  upload: UploadRow,
  { damaged, isAborted }: { damaged: readonly store.ReceivedPart[]; isAborted: boolean },
): Promise<void> {
  const lost = damaged.reduce((sum, { bytes }) => sum + bytes, 0);
  const begun = isAborted ? { handle: null } : {};
  const values = { status: UPLOAD_INCOMPLETE, claim: null, received: upload.received - lost, ...begun };
  const isOurs = await store.changeClaimed(query, upload, values);
  const numbers = damaged.map(({ part_number }) => part_number);
  if (isOurs && numbers.length > 0) await store.removeParts(query, upload.upload_id, numbers);
}

async function completed(app: App, upload: UploadRow, { md5, sha256 }: StoredObject): Promise<UploadRow> {
  const values = { status: UPLOAD_COMPLETE, claim: null, md5, sha256, date_updated: app.clock.now() };
  const done = await app.db.write(({ query }) => store.changeClaimed(query, upload, values));
  if (done) return done;
  const now = await store.byUploadId(app.db, upload.upload_id);
  if (now) refuseClosed(now, app.clock.now());
  throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_PROCESSING');
}
