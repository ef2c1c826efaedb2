import { requireGameForChange } from '../../catalogue/games/games.ts';
import { OPERATOR } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ArchiveProblem, inspectArchive, storedSource, toFieldProblem } from '../../platform/archives/archives.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { PartsDamaged, StorageFull, type StoredObject } from '../../platform/storage/storage.ts';
import { receive } from '../uploads/parts.ts';
import { FILE_BYTES_MAX, type PartOfWhole, partOfRange } from '../uploads/ranges.ts';
import { storageFailure } from '../uploads/uploads.ts';
import { CLOUD_COOKING, putStatus, requireBuild } from './builds.ts';
import { BUILD_POLICY } from './policy.ts';
import { awaitScan } from './scans.ts';
import * as store from './store.ts';

export const INSPECT = 'cook-builds.inspect';
export const PREFIX = 'cookbuilds/';

/** The bytes of a build in a request: all of them, or the part of the range. */
export interface SentBytes {
  readonly contentRange: string | undefined;
  readonly bytes: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface Address {
  readonly uuid: string;
  readonly signature: string;
}

/** Receives a build, whole or in parts. A job inspects the complete build. */
export async function receiveBuild(app: App, address: Address, sent: SentBytes): Promise<store.BuildRow> {
  const build = await requireOpen(app, address);
  if (sent.contentRange === undefined) await receiveWhole(app, build, sent);
  else await receivePart(app, build, sent);
  return requireBuild(app, address);
}

async function requireOpen(app: App, address: Address): Promise<store.BuildRow> {
  const build = await requireBuild(app, address);
  if (build.state !== 'open') throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE');
  return build;
}

async function requireRoom(app: App, bytes: number): Promise<void> {
  const room = await app.storage.room();
  if (room !== undefined && room < bytes) throw new StorageFull(`no room for ${bytes} bytes`);
}

/** Each upload has its own key, so that of two concurrent ones the winner has all of its bytes. */
async function receiveWhole(app: App, build: store.BuildRow, { bytes, chunks }: SentBytes): Promise<void> {
  if (bytes === 0) throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
  const incoming = `incoming/${app.random.uuid()}`;
  try {
    await requireRoom(app, bytes ?? 1);
    const stored = await app.storage.put(incoming, chunks, { bytesMax: FILE_BYTES_MAX });
    if (stored.bytes === 0) throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
    const key = `${PREFIX}${build.build_uuid}-${app.random.hex(8)}`;
    await app.db.write(async ({ query }) => void (await store.change(query, build.id, { storage_key: key })));
    await app.storage.move(incoming, key);
    await becomeWhole(app, build, key, stored);
  } finally {
    await app.storage.remove(incoming);
  }
}

async function receivePart(app: App, build: store.BuildRow, { contentRange, bytes, chunks }: SentBytes): Promise<void> {
  const part = partOfRange(contentRange, app.storage.assemblies.partBytes);
  if (bytes !== undefined && bytes !== part.bytes) throw new ApiError('MULTIPART_UPLOAD_BODY_LENGTH_INCORRECT');
  if (build.total === 0) await requireRoom(app, part.total);
  await app.db.write((transaction) => agreeOnTotal(transaction, build, part));
  const received = receive(chunks, part.bytes, undefined);
  const known = await store.partOf(app.db, build.id, part.number);
  if (known) {
    for await (const _ of received.chunks);
    if (received.sha256() !== known.sha256) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
  } else await putPart(app, build, part, received);
  const all = await store.partsOf(app.db, build.id);
  if (all.reduce((sum, each) => sum + each.bytes, 0) === part.total) await assemble(app, build, all);
}

async function agreeOnTotal(transaction: Transaction, { id }: store.BuildRow, part: PartOfWhole): Promise<void> {
  const build = await store.forChange(transaction, id);
  if (build?.state !== 'open') throw new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_COMPLETE');
  if (build.total === 0) await store.change(transaction.query, id, { total: part.total });
  else if (build.total !== part.total) throw new ApiError('MULTIPART_UPLOAD_FILESIZE_MISMATCH');
}

/**
 * Two concurrent requests for the same part can mix their bytes. Assembling the build detects that, and requests the
 * part again.
 */
async function putPart(
  app: App,
  build: store.BuildRow,
  part: PartOfWhole,
  received: ReturnType<typeof receive>,
): Promise<void> {
  const assembly = await assemblyOf(app, build);
  const tag = await app.storage.assemblies.putPart(assembly, part, received.chunks).catch(async (cause) => {
    if (received.failure()) throw received.failure();
    // Another request may have sent the part, and the build may be assembled since: a bucket accepts no more parts
    // then.
    if (await store.partOf(app.db, build.id, part.number)) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
    throw storageFailure('MULTIPART_UPLOAD_DESTINATION_PART_UPLOAD_FAILED', cause);
  });
  const sha256 = received.sha256();
  await app.db.write(async (transaction) => {
    await store.forChange(transaction, build.id);
    const present = await store.partOf(transaction, build.id, part.number);
    if (present?.sha256 === sha256) return;
    if (present) throw new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED');
    const { number: part_number, start, bytes } = part;
    await store.addPart(transaction.query, { build_id: build.id, part_number, start, bytes, sha256, tag });
    await store.change(transaction.query, build.id, { date_updated: app.clock.now() });
  });
}

const assemblyKeyOf = ({ build_uuid }: Pick<store.BuildRow, 'build_uuid'>): string => `${PREFIX}${build_uuid}`;

async function assemblyOf(app: App, build: store.BuildRow) {
  const key = assemblyKeyOf(build);
  const known = (await store.byUuid(app.db, build.build_uuid))?.handle ?? null;
  if (known !== null) return { key, handle: known };
  const handle = await app.storage.assemblies.begin(key);
  if (await app.db.write(({ query }) => store.begun(query, build.id, handle))) return { key, handle };
  const first = (await store.byUuid(app.db, build.build_uuid))?.handle ?? handle;
  if (first !== handle) await app.storage.assemblies.abandon({ key, handle });
  return { key, handle: first };
}

async function assemble(app: App, build: store.BuildRow, parts: readonly store.PartRow[]): Promise<void> {
  const assembly = await assemblyOf(app, build);
  const pieces = parts.map(({ part_number: number, start, bytes, sha256, tag }) => ({
    number,
    start,
    bytes,
    sha256,
    tag,
  }));
  const stored = await app.storage.assemblies.finish(assembly, pieces).catch(async (cause) => {
    if (!(cause instanceof PartsDamaged)) throw storageFailure('MULTIPART_UPLOAD_BUILD_HASH_FAILED', cause);
    await app.db.write(async (transaction) => {
      if ((await store.forChange(transaction, build.id))?.state !== 'open') return;
      await store.removeParts(transaction.query, build.id, cause.parts);
      if (cause.isAborted) await store.change(transaction.query, build.id, { handle: null });
    });
    throw new ApiError('MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE', { cause });
  });
  await becomeWhole(app, build, assembly.key, stored);
}

const becomeWhole = (app: App, build: store.BuildRow, key: string, stored: StoredObject): Promise<void> =>
  app.db.write(async (transaction) => {
    const game = await requireGameForChange(transaction, OPERATOR, build.game_id);
    const now = await store.forChange(transaction, build.id);
    if (now?.state !== 'open') return;
    const { bytes, md5, sha256 } = stored;
    const values = { state: 'whole', storage_key: key, total: bytes, md5, sha256 } as const;
    await store.change(transaction.query, build.id, { ...values, date_updated: app.clock.now() });
    await app.jobs.enqueue(transaction, INSPECT, { uuid: build.build_uuid }, { key: build.build_uuid });
    if (game.cloud_cooking_status === CLOUD_COOKING.INITIALIZING)
      await putStatus(app, transaction, game.id, CLOUD_COOKING.INITIALIZED);
  });

/** Reads the build completely, because runners get only valid archives. */
export async function inspectBuild(app: App, uuid: string, heartbeat: () => Promise<void>): Promise<void> {
  const build = await store.byUuid(app.db, uuid);
  if (build?.state !== 'whole') return;
  const beat = setInterval(() => void heartbeat().catch(() => {}), 20_000).unref();
  try {
    const found = await look(app, build.storage_key!);
    await app.db.write((transaction) => conclude(app, transaction, build, found));
  } finally {
    clearInterval(beat);
  }
}

interface Found {
  readonly bytes: number;
  /** As JSON; empty if there is none. */
  readonly problem: string;
}

async function look(app: App, key: string): Promise<Found> {
  const source = await storedSource(app.storage, key);
  if (!source) return { bytes: 0, problem: JSON.stringify({ field: 'build', rule: 'required' }) };
  try {
    return { bytes: (await inspectArchive(source, BUILD_POLICY)).bytesUncompressed, problem: '' };
  } catch (cause) {
    if (!(cause instanceof ArchiveProblem)) throw cause;
    return { bytes: 0, problem: JSON.stringify(toFieldProblem('build', cause)) };
  }
}

async function conclude(app: App, transaction: Transaction, { id, game_id }: store.BuildRow, found: Found) {
  const game = await requireGameForChange(transaction, OPERATOR, game_id);
  const build = await store.forChange(transaction, id);
  if (build?.state !== 'whole') return;
  await store.change(transaction.query, id, {
    state: found.problem === '' ? 'valid' : 'invalid',
    problem: found.problem,
    bytes_uncompressed: found.bytes,
    date_updated: app.clock.now(),
  });
  if (found.problem === '') await awaitScan(app, transaction, build.build_uuid);
  const isFirst = game.cloud_cooking_status === CLOUD_COOKING.INITIALIZED;
  if (found.problem !== '' && isFirst) await putStatus(app, transaction, game_id, CLOUD_COOKING.ACTION_REQUIRED);
}

/** Removes unused builds, the bytes before the row: a failed removal is found again. */
export async function removeOldBuilds(app: App, heartbeat: () => Promise<void>): Promise<void> {
  for (const build of await store.over(app.db.query, app.clock.now(), 100)) {
    await heartbeat();
    await app.storage.assemblies.discard({ key: assemblyKeyOf(build), handle: build.handle ?? '' });
    if (build.storage_key !== null) await app.storage.remove(build.storage_key);
    await app.db.write(({ query }) => store.remove(query, build.id));
  }
}
