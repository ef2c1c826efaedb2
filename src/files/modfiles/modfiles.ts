import { FINDING, putFindings } from '../../catalogue/findings/findings.ts';
import { auditByGame } from '../../catalogue/mods/auditing.ts';
import {
  invalidateMod,
  type Levels,
  levelsOf,
  type ModRow,
  mayEdit,
  mayModerate,
  requireMod,
  requireModForChange,
} from '../../catalogue/mods/mods.ts';
import { applyRulesToMod } from '../../catalogue/mods/rule-checks.ts';
import { requireRoomForFile } from '../../catalogue/plans/plans.ts';
import { prepareRules } from '../../catalogue/rules/evaluation.ts';
import { ADMINISTRATOR } from '../../catalogue/teams/teams.ts';
import { notifyDecision } from '../../people/notifications/notifications.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { ArchiveEntry, Inspection } from '../../platform/archives/archives.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold, type ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import { audit } from '../../records/audit/audit.ts';
import { consumeUpload, requireCompleteUpload, requireUploader } from '../uploads/uploads.ts';
import { announceArrival, concludeArrival, scheduleCleanup, storageKeyOf } from './bytes.ts';
import { contentsOf, inspectFile } from './contents.ts';
import { writeDocument } from './documents.ts';
import { dropPostponed } from './extensions.ts';
import { safeFilename } from './filenames.ts';
import { modfileListing } from './listing.ts';
import { recalled } from './live.ts';
import { APPROVED, DENIED, notAmong, settlePlatforms, targetsFor } from './platforms.ts';
import { changeLive, deactivate, release } from './releasing.ts';
import { awaitScan } from './scans.ts';
import * as store from './store.ts';

export type { ModfileRow, StoredFile } from './store.ts';

const FILE_THERE = 1;
const FILE_DELETED = 3;

/** A complete upload under a key that nothing else uses. */
interface ReceivedFile {
  readonly key: string;
  readonly filename: string;
  readonly bytes: number;
  readonly md5: string;
  readonly sha256: string;
}

/** A file from the request’s body, or the session of an earlier multipart upload. */
export type Incoming = ReceivedFile | { readonly uploadId: string };

/** The fields of a file that can be edited. */
export interface FileTexts {
  readonly version?: string | undefined;
  readonly changelog?: string | undefined;
  readonly metadata_blob?: string | undefined;
}

export interface NewFile extends FileTexts {
  /** Makes the file live on every platform that needs no approval. */
  readonly active: boolean;
  /** The MD5 that the client computed. */
  readonly filehash?: string | undefined;
  /** Default: all open platforms of the game. */
  readonly platforms?: readonly string[] | undefined;
}

export interface ModPath {
  readonly gameId: number;
  readonly modId: number;
}

/** How a file is added to a mod: as an upload, a source, or the result of a cook. */
export interface FileOrigin {
  readonly kind: store.ModfileRow['kind'];
  /** Default: the caller. */
  readonly submitterId?: number;
  targets(
    transaction: Transaction,
    gameId: number,
    asked: readonly string[] | undefined,
  ): Promise<readonly store.FilePlatform[]>;
  /** Runs in the transaction that adds the file, after its row. */
  onAdded(transaction: Transaction, mod: ModRow, file: store.ModfileRow): Promise<void>;
}

/** Adds an uploaded file for open platforms. */
export const addModfile = (app: App, caller: UserCaller, which: ModPath, incoming: Incoming, fields: NewFile) =>
  addFile(app, caller, which, incoming, fields, {
    kind: 'file',
    targets: targetsFor,
    onAdded: async (transaction, mod, file) => {
      const releasing = { userId: file.submitted_by, shown: true, by: caller };
      if (fields.active) await release(app, transaction, mod, file, releasing);
    },
  });

/** Adds a file to a mod. The archive is inspected and moved to its key before a row references it. */
export async function addFile(
  app: App,
  caller: UserCaller,
  which: ModPath,
  incoming: Incoming,
  fields: NewFile,
  origin: FileOrigin,
): Promise<store.StoredFile> {
  await requireUploader(app.db, caller, which);
  const uploadId = 'uploadId' in incoming ? incoming.uploadId : undefined;
  const find = async () =>
    'key' in incoming ? incoming : requireCompleteUpload(app.db, caller, which.modId, incoming.uploadId);
  const file = await find();
  if (fields.filehash !== undefined && fields.filehash.toLowerCase() !== file.md5)
    throw new ApiError('FILE_CORRUPTED', { status: 422, fields: [{ field: 'filehash', rule: 'filehash' }] });
  const field = uploadId === undefined ? 'filedata' : 'upload_id';
  const inspection = await inspectFile(app, { gameId: which.gameId, field, key: file.key }).catch(async (error) => {
    // Another request may have consumed the upload meanwhile, and its bytes with it.
    await find();
    throw error;
  });
  const submission = caller.kind === 'user' ? caller.submission : undefined;
  if (submission) {
    submission.contents = inspection.entries.map(({ name }) => name);
    await prepareRules(app, which.gameId, caller);
  }
  const key = storageKeyOf(file.sha256);
  const arrival = await writeAfterRemoval(app, async (transaction) => {
    await requireUploader(transaction, caller, which);
    await applyRulesToMod(
      app,
      transaction,
      caller,
      await requireModForChange(transaction, caller, which.gameId, which.modId),
    );
    await origin.targets(transaction, which.gameId, fields.platforms);
    if (uploadId !== undefined) await consumeUpload(app, transaction, caller, which.modId, uploadId);
    return announceArrival(app, transaction, key);
  });
  await app.storage.move(file.key, key);
  return app.db.write(async (transaction) => {
    await concludeArrival(transaction, arrival);
    return insertFile(app, transaction, caller, which, { ...file, inspection }, fields, origin);
  });
}

export interface CheckedFile extends ReceivedFile {
  readonly inspection: Inspection;
}

/** Checks all permissions again: the mod, its team and its game may have changed during the upload. */
async function insertFile(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  which: ModPath,
  file: CheckedFile,
  fields: NewFile,
  origin: FileOrigin,
): Promise<store.StoredFile> {
  const mod = await requireModForChange(transaction, caller, which.gameId, which.modId);
  await requireUploader(transaction, caller, which);
  await requireRoomForFile(transaction, which.gameId, file.bytes);
  const targets = await origin.targets(transaction, which.gameId, fields.platforms);
  const submitterId = origin.submitterId ?? caller.userId;
  const values = { ...newRow(app, mod, file, submitterId, fields), kind: origin.kind };
  const row = await store.add(transaction.query, values);
  transaction.made?.(row.id);
  await store.putPlatforms(transaction, row.id, targets);
  await putFindings(app, transaction, row, [FINDING.TYPE], file.inspection.reported.map(toTypeFinding));
  await writeDocument(transaction, row);
  await awaitScan(app, transaction, row);
  invalidateMod(transaction, mod.game_id, mod.id);
  await origin.onAdded(transaction, mod, row);
  if (origin.submitterId === undefined)
    await auditByGame(app, transaction, caller, mod, { action: 'mods.files-add', data: { file: row.id } });
  return (await store.storedFile(transaction, { id: row.id, modId: mod.id, kind: origin.kind }, true))!;
}

const toTypeFinding = (path: string) => ({ kind: FINDING.TYPE, path, detail: path.slice(path.lastIndexOf('.') + 1) });

/** The row of a new file, without its id. */
export function newRow(
  app: App,
  mod: Pick<ModRow, 'id' | 'game_id'>,
  file: CheckedFile,
  userId: number,
  texts: FileTexts,
) {
  const filename = safeFilename(file.filename);
  return {
    mod_id: mod.id,
    game_id: mod.game_id,
    submitted_by: userId,
    kind: 'file' as const,
    date_added: app.clock.now(),
    date_updated: app.clock.now(),
    date_scanned: 0,
    virus_status: 0,
    virus_positive: 0,
    virustotal_hash: null,
    filesize: file.bytes,
    filesize_uncompressed: file.inspection.bytesUncompressed,
    status: FILE_THERE,
    withdrawn: 0,
    released: 0,
    md5: file.md5,
    sha256: file.sha256,
    storage_key: storageKeyOf(file.sha256),
    filename,
    filename_folded: fold(filename),
    version: '',
    version_folded: '',
    changelog: '',
    changelog_folded: '',
    metadata_blob: '',
    metadata_blob_folded: '',
    ...columnsOf(texts),
  };
}

/** Filtered texts are stored a second time, folded. */
function columnsOf({ version, changelog, metadata_blob }: FileTexts) {
  return {
    ...(version !== undefined && { version, version_folded: fold(version) }),
    ...(changelog !== undefined && { changelog, changelog_folded: fold(changelog) }),
    ...(metadata_blob !== undefined && { metadata_blob, metadata_blob_folded: fold(metadata_blob) }),
  };
}

/** Edits the file’s fields. Its bytes never change. */
export async function editModfile(
  app: App,
  caller: UserCaller,
  which: ModPath,
  fileId: number,
  { active, ...texts }: FileTexts & { readonly active?: boolean | undefined },
): Promise<store.StoredFile> {
  const { userId } = caller;
  return app.db.write(async (transaction) => {
    const { file, levels, ...found } = await requireFileForChange(transaction, caller, which, fileId);
    if (!mayEdit(levels) || (active && file.withdrawn === 1)) throw new ApiError('MODFILE_NO_UPDATE_PERMISSION');
    const mod = await applyRulesToMod(app, transaction, caller, found.mod);
    const after = await store.change(transaction, fileId, { ...columnsOf(texts), date_updated: app.clock.now() });
    await writeDocument(transaction, after);
    if (active) await release(app, transaction, mod, after, { userId, shown: true, by: caller });
    if (active === false) await deactivate(app, transaction, mod, after, userId);
    invalidateMod(transaction, mod.game_id, mod.id);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.files-edit', data: { file: fileId, active } });
    return (await store.storedFile(transaction, { id: fileId, modId: mod.id, kind: 'file' }, true))!;
  });
}

/** Locks the mod, and returns the file with the caller’s levels in the teams. */
export async function requireFileForChange(
  transaction: Transaction,
  caller: Caller,
  { gameId, modId }: ModPath,
  fileId: number,
  kind: store.ModfileRow['kind'] = 'file',
): Promise<{ mod: ModRow; file: store.ModfileRow; levels: Levels }> {
  const mod = await requireModForChange(transaction, caller, gameId, modId);
  const levels = await levelsOf(transaction, caller, mod);
  const isMember = levels.mod > 0 || levels.game > 0;
  const file = await store.visibleRow(transaction, { id: fileId, modId, kind }, isMember);
  if (!file) throw new ApiError('MODFILE_NOT_FOUND');
  return { mod, file, levels };
}

/** Allowed for the uploader, while they may edit the mod, and for administrators of the game. */
export async function deleteModfile(
  app: App,
  caller: UserCaller,
  which: ModPath,
  fileId: number,
  { kind, deleted }: Pick<FileOrigin, 'kind'> & { deleted?(transaction: Transaction): Promise<void> } = {
    kind: 'file',
  },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const { mod, file, levels } = await requireFileForChange(transaction, caller, which, fileId, kind);
    const isOwn = file.submitted_by === caller.userId && mayEdit(levels);
    if (!isOwn && levels.game < ADMINISTRATOR) throw new ApiError('MODFILE_NO_DELETE_PERMISSION');
    const live = await store.liveFilesOf(transaction, mod.id);
    if ([...live.values()].includes(fileId)) throw new ApiError('MODFILE_CANNOT_DELETE_ACTIVE_RELEASE');
    await dropFile(app, transaction, file);
    invalidateMod(transaction, mod.game_id, mod.id);
    await deleted?.(transaction);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.files-remove', data: { file: fileId } });
  });
}

/** Marks a file as deleted. Its bytes go as soon as no other file has them. */
export async function dropFile(
  app: App,
  transaction: Transaction,
  { id, storage_key }: Pick<store.ModfileRow, 'id' | 'storage_key'>,
): Promise<void> {
  await store.change(transaction, id, { status: FILE_DELETED, date_updated: app.clock.now() });
  await store.removeAwaited(transaction, id);
  await dropPostponed(app, transaction, id);
  await scheduleCleanup(app, transaction, storage_key);
}

export interface Decisions {
  readonly approved: readonly string[];
  readonly denied: readonly string[];
}

/**
 * Decides on which platforms a file may run. An approved file goes live with its next edit; a denied one is removed at
 * once.
 */
export async function decidePlatforms(
  app: App,
  caller: UserCaller,
  which: ModPath,
  fileId: number,
  { approved, denied }: Decisions,
): Promise<store.StoredFile> {
  return app.db.write(async (transaction) => {
    const { mod, file, levels } = await requireFileForChange(transaction, caller, which, fileId);
    if (!mayModerate(levels)) throw new ApiError('MODFILE_NO_UPDATE_PERMISSION');
    if ((await store.platformsOfGame(transaction, mod.game_id)).length === 0)
      throw new ApiError('GAME_CANT_HAVE_PLATFORM_SPECIFIC_FILES');
    await settlePlatforms(app, transaction, mod, file);
    requireTargets(await store.platformsOf(transaction, fileId), { approved, denied });
    await store.putPlatforms(transaction, fileId, [
      ...approved.map((platform) => ({ platform, status: APPROVED })),
      ...denied.map((platform) => ({ platform, status: DENIED })),
    ]);
    await writeDocument(transaction, await store.change(transaction, file.id, { date_updated: app.clock.now() }));
    const { userId } = caller;
    await changeLive(app, transaction, mod, userId, (live) => recalled(live, fileId, (name) => denied.includes(name)));
    invalidateMod(transaction, mod.game_id, mod.id);
    const subject = { resource: 'modfiles', id: fileId, gameId: mod.game_id };
    const data = { mod: mod.id, approved, denied };
    await audit(app, transaction, { actor: userId, action: 'modfiles.decide-platforms', subject, data });
    const [about, to] = [
      { resource: 'mods', id: mod.id, gameId: mod.game_id },
      { userId: file.submitted_by, by: userId },
    ];
    if (approved.length > 0) await notifyDecision(app, transaction, 'file_approved', about, to);
    if (denied.length > 0) await notifyDecision(app, transaction, 'file_denied', about, to);
    return (await store.storedFile(transaction, { id: fileId, modId: mod.id, kind: 'file' }, true))!;
  });
}

function requireTargets(targets: readonly store.FilePlatform[], { approved, denied }: Decisions): void {
  const names = targets.map(({ platform }) => platform);
  if (!approved.every((platform) => names.includes(platform))) throw notAmong('approved', targets);
  const left = targets.filter(({ platform }) => !approved.includes(platform));
  if (!denied.every((platform) => left.some((target) => target.platform === platform))) throw notAmong('denied', left);
}

/** The file if the caller may see it and, with a platform, if it is approved there. */
export async function requireModfile(app: App, caller: Caller, which: ModPath, fileId: number, platform?: string) {
  const everything = await seesEverything(app, caller, which);
  const file = await store.storedFile(app.db, { id: fileId, modId: which.modId, kind: 'file' }, everything);
  if (!file) throw new ApiError('MODFILE_NOT_FOUND');
  if (!everything && platform !== undefined && !(await store.isFor(app.db.query, fileId, platform)))
    throw new ApiError('MODFILE_NOT_FOUND');
  return file;
}

async function seesEverything(app: App, caller: Caller, { gameId, modId }: ModPath): Promise<boolean> {
  const mod = await requireMod(app.db, caller, gameId, modId);
  const levels = await levelsOf(app.db, caller, mod);
  return levels.mod > 0 || levels.game > 0;
}

/** The entries of the archive. Allowed for the teams of the mod and its game. */
export async function listContents(
  app: App,
  caller: Caller,
  which: ModPath,
  fileId: number,
): Promise<readonly ArchiveEntry[]> {
  const everything = await seesEverything(app, caller, which);
  const file = await store.storedFile(app.db, { id: fileId, modId: which.modId, kind: 'file' }, everything);
  if (!file) throw new ApiError('MODFILE_NOT_FOUND');
  if (!everything) throw new ApiError('MODFILE_CANNOT_INSPECT_FILES', { status: 403 });
  return contentsOf(app, storageKeyOf(file.sha256));
}

type Asked = Pick<store.FileScope, 'platform' | 'platformStatus'>;

export async function listModfiles(app: App, caller: Caller, which: ModPath, request: ListRequest, asked: Asked) {
  const everything = await seesEverything(app, caller, which);
  const scope = { ...asked, kind: 'file' as const, modId: which.modId, submitterId: undefined, everything };
  return store.list(app.db.query, scope, modfileListing, request);
}

/** The files that the user uploaded, in any state. */
export const listOwnModfiles = (app: App, submitterId: number, request: ListRequest, asked: Asked) =>
  store.list(
    app.db.query,
    { ...asked, kind: 'file', modId: undefined, submitterId, everything: true },
    modfileListing,
    request,
  );
