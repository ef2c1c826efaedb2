import { createHash } from 'node:crypto';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { StorageFull } from '../../platform/storage/storage.ts';
import { claimUntil, maintainClaim, watch } from './claims.ts';
import { type Expected, expectedOf } from './digests.ts';
import { type PartOfWhole, partOfRange } from './ranges.ts';
import * as store from './store.ts';
import {
  assemblyOf,
  refuseClosed,
  requireUpload,
  requireUploader,
  requireUploadForChange,
  type SessionPath,
  scopeOf,
  storageFailure,
  type UploadRow,
  undo,
} from './uploads.ts';

/** A part as the request sends it. */
export interface SentPart {
  readonly contentRange: string | undefined;
  readonly digest: string | undefined;
  /** The declared length, if there is one. */
  readonly bytes: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A request for a part, after all checks that do not need its bytes. */
export interface PartRequest {
  readonly caller: Caller;
  readonly named: SessionPath;
  readonly upload: UploadRow;
  readonly part: PartOfWhole;
}

interface Sending extends PartRequest {
  readonly expected: Expected | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Receives a part. Once this returns, the part is durable: a repetition is acknowledged again, and different bytes are
 * refused. The body is read only after all other checks have passed.
 */
export async function receivePart(
  app: App,
  caller: Caller,
  named: SessionPath,
  sent: SentPart,
): Promise<store.ReceivedPart> {
  await requireUploader(app.db, caller, named);
  const upload = await requireUpload(app.db, caller, named);
  refuseClosed(upload, app.clock.now());
  const part = partOfRange(sent.contentRange, app.storage.assemblies.partBytes);
  const sending = { caller, named, upload, part, expected: expectedOf(sent.digest), chunks: sent.chunks };
  if (sent.bytes !== undefined && sent.bytes !== part.bytes)
    throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
  const found = await claimOrFind(app, sending);
  if ('sha256' in found) return requireSame(found, sending);
  return acknowledgeStored(app, sending, found, (signal) => write(app, sending, signal));
}

/** Returns the part if it exists, or else a claim to write it, after other writers of the part have stopped. */
export async function claimOrFind(app: App, sending: PartRequest): Promise<store.Claim | store.ReceivedPart> {
  const room = await app.storage.room();
  const changes = watch(app.db.changes, scopeOf(sending.upload));
  try {
    for (let isFirst = true; ; isFirst = false) {
      const found = await app.db.write((transaction) => tryClaim(app, transaction, sending, { room, isFirst }));
      if (found) return found;
      await changes.next();
    }
  } finally {
    changes.end();
  }
}

async function tryClaim(
  app: App,
  transaction: Transaction,
  { caller, named, part }: PartRequest,
  { room, isFirst }: { room: number | undefined; isFirst: boolean },
): Promise<store.Claim | store.ReceivedPart | undefined> {
  const now = app.clock.now();
  await requireUploader(transaction, caller, named);
  const upload = await requireUploadForChange(transaction, caller, named);
  refuseClosed(upload, now);
  if (upload.total === 0) await reserve(transaction, upload, part.total, room);
  else if (upload.total !== part.total) throw new ApiError('MULTIPART_UPLOAD_FILESIZE_MISMATCH');
  const present = await store.partOf(transaction, upload.upload_id, part.number);
  if (present?.sha256) return present as store.ReceivedPart;
  const names = { upload_id: upload.upload_id, part_number: part.number };
  if (present?.claim && present.claim_until > now) {
    if (isFirst) {
      await store.wantPart(transaction.query, { ...names, claim: present.claim });
      transaction.changed(scopeOf(upload));
    }
    return undefined;
  }
  const claim = app.random.hex(32);
  const { start, bytes } = part;
  const fresh = { sha256: null, tag: '', claim_until: claimUntil(app), date_added: now };
  await store.claimPart(transaction.query, { ...names, start, bytes, claim, ...fresh });
  return { ...names, claim };
}

/**
 * The first part declares the total length. The storage must have room for all of it, in addition to other
 * reservations.
 */
async function reserve(
  transaction: Transaction,
  upload: UploadRow,
  total: number,
  room: number | undefined,
): Promise<void> {
  if (room !== undefined && (await store.outstandingBytes(transaction)) + total > room)
    throw storageFailure(
      'MULTIPART_UPLOAD_DESTINATION_PART_UPLOAD_FAILED',
      new StorageFull(`no room for ${total} bytes`),
    );
  await store.change(transaction.query, upload.id, { total });
}

async function requireSame(present: store.ReceivedPart, { part, expected, chunks }: Sending) {
  const received = receive(chunks, part.bytes, expected);
  for await (const _ of received.chunks);
  if (received.sha256() !== present.sha256) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
  return present;
}

/** Acknowledges the part once `stored` has resolved, and releases the claim if anything fails. */
export async function acknowledgeStored(
  app: App,
  request: PartRequest,
  claim: store.Claim,
  stored: (signal: AbortSignal) => Promise<{ sha256: string; tag: string }>,
): Promise<store.ReceivedPart> {
  const scope = scopeOf(request.upload);
  const held = maintainClaim(app, scope, claim);
  try {
    return await acknowledge(app, request, claim, await stored(held.signal));
  } catch (error) {
    await undo(app, request.upload, () =>
      app.db.write(async (transaction) => {
        await store.releaseClaim(transaction.query, claim);
        transaction.changed(scope);
      }),
    );
    throw error;
  } finally {
    held.end();
  }
}

async function write(app: App, { upload, part, chunks, expected }: Sending, signal: AbortSignal) {
  const received = receive(chunks, part.bytes, expected, signal);
  try {
    const tag = await app.storage.assemblies.putPart(await assemblyOf(app, upload), part, received.chunks);
    return { sha256: received.sha256(), tag };
  } catch (cause) {
    throw received.failure() ?? storageFailure('MULTIPART_UPLOAD_DESTINATION_PART_UPLOAD_FAILED', cause);
  }
}

function acknowledge(
  app: App,
  { caller, named, part }: PartRequest,
  claim: store.Claim,
  stored: { sha256: string; tag: string },
): Promise<store.ReceivedPart> {
  return app.db.write(async (transaction) => {
    const now = app.clock.now();
    const upload = await requireUploadForChange(transaction, caller, named);
    refuseClosed(upload, now);
    const row = await store.acknowledge(transaction.query, claim, { ...stored, date_added: now });
    if (!row) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
    await store.addReceived(transaction.query, upload.id, part.bytes, now);
    return row as store.ReceivedPart;
  });
}

/** The body as it is written to storage. The storage does not learn why the body ends early. */
export interface Received {
  readonly chunks: AsyncGenerator<Uint8Array>;
  failure(): unknown;
  sha256(): string;
}

/** Hashes the body, and aborts it if its length or its checksum is not the declared one. */
export function receive(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
  expected: Expected | undefined,
  signal?: AbortSignal,
): Received {
  const hash = createHash('sha256');
  let failure: unknown;
  let left = bytes;
  async function* checked(): AsyncGenerator<Uint8Array> {
    const body = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await unlessAborted(signal, body.next());
        if (done) break;
        left -= value.length;
        if (left < 0) throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
        hash.update(value);
        expected?.checksum.update(value);
        yield value;
      }
      if (left > 0) throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
      if (expected && !expected.checksum.digest().equals(expected.value))
        throw new ApiError('MULTIPART_UPLOAD_CHECKSUM_FAILED');
      signal?.throwIfAborted();
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return { chunks: checked(), failure: () => failure, sha256: () => hash.digest('hex') };
}

/** Not Promise.race, which would keep every chunk reachable as long as the signal lives. */
function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
