import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { expectedOf } from './digests.ts';
import { acknowledgeStored, claimOrFind, type PartRequest } from './parts.ts';
import { partOfRange } from './ranges.ts';
import * as store from './store.ts';
import {
  assemblyOf,
  refuseClosed,
  requireUpload,
  requireUploader,
  type SessionPath,
  storageFailure,
} from './uploads.ts';

/** Long enough for a part of 50 MiB at half a megabit per second. */
const LINK_SECONDS = 900;
const SHA256_BYTES = 32;

/** A part that the client sends to the storage itself. */
export interface LinkedPart {
  readonly contentRange: string;
  /** Its SHA-256, which completing the session compares with the stored bytes. */
  readonly digest: string;
}

export interface PartLink {
  readonly partNumber: number;
  /** Empty if clients cannot reach the storage. */
  readonly url: string;
  readonly dateExpires: number;
}

/** An address of the storage for a part. The part counts only once it was confirmed. */
export async function linkPart(app: App, caller: Caller, named: SessionPath, linked: LinkedPart): Promise<PartLink> {
  const request = await requirePart(app, caller, named, linked);
  const { upload, part } = request;
  if (upload.total !== 0 && upload.total !== part.total) throw new ApiError('MULTIPART_UPLOAD_FILESIZE_MISMATCH');
  const present = await store.partOf(app.db, upload.upload_id, part.number);
  if (present?.sha256) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
  const { assemblies } = app.storage;
  const link = { partNumber: part.number, dateExpires: app.clock.now() + LINK_SECONDS };
  if (!assemblies.partLink) return { ...link, url: '' };
  try {
    return { ...link, url: await assemblies.partLink(await assemblyOf(app, upload), part, LINK_SECONDS) };
  } catch (cause) {
    throw storageFailure('MULTIPART_UPLOAD_DESTINATION_PART_UPLOAD_FAILED', cause);
  }
}

/**
 * Acknowledges a part that the client has sent to the storage. If its link overwrites the part afterwards, its tag changes
 * and completing the session fails; after that, the link leads nowhere.
 */
export async function confirmPart(
  app: App,
  caller: Caller,
  named: SessionPath,
  linked: LinkedPart,
): Promise<store.ReceivedPart> {
  const { sha256, ...request } = await requirePart(app, caller, named, linked);
  const found = await claimOrFind(app, request);
  if (!('sha256' in found))
    return acknowledgeStored(app, request, found, async () => ({ sha256, tag: await tagOf(app, request) }));
  if (found.sha256 !== sha256) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
  return found;
}

async function requirePart(
  app: App,
  caller: Caller,
  named: SessionPath,
  { contentRange, digest }: LinkedPart,
): Promise<PartRequest & { sha256: string }> {
  await requireUploader(app.db, caller, named);
  const upload = await requireUpload(app.db, caller, named);
  refuseClosed(upload, app.clock.now());
  const part = partOfRange(contentRange, app.storage.assemblies.partBytes);
  const value = expectedOf(digest)?.value;
  if (value?.length !== SHA256_BYTES) throw new ApiError('MULTIPART_UPLOAD_INVALID_DIGEST_ALGO');
  return { caller, named, upload, part, sha256: value.toString('hex') };
}

async function tagOf(app: App, { upload, part }: PartRequest): Promise<string> {
  const { assemblies } = app.storage;
  const tag = await assemblies.linkedPart?.(await assemblyOf(app, upload), part).catch((cause) => {
    throw storageFailure('MULTIPART_UPLOAD_DESTINATION_PART_UPLOAD_FAILED', cause);
  });
  if (tag === undefined) throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
  return tag;
}
