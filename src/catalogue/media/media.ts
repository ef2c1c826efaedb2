import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { galleryImage } from '../../platform/images/images.ts';
import {
  claimPictures,
  completePictures,
  type Picture,
  pictureOf,
  preparePictures,
  reviewPicture,
  type UploadedPicture,
} from '../../platform/images/pictures.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import { auditByGame } from '../mods/auditing.ts';
import { MOD_LOGO } from '../mods/editing.ts';
import {
  applyModChanges,
  levelsOf,
  type ModRow,
  mayEdit,
  modChanged,
  requireMod,
  requireModForChange,
} from '../mods/mods.ts';
import { applyRulesToMod } from '../mods/rule-checks.ts';
import { filenameOf } from './filenames.ts';
import { type LinkKind, linkOf } from './links.ts';
import * as store from './store.ts';
import { type SentImage, unpacked } from './uploads.ts';

/** The most pictures of a mod, and the most links of each kind. */
export const IMAGES_MAX = 50;
export const LINKS_MAX = 50;
const MEGABYTE = 1_024 * 1_024;

export interface NewMedia {
  readonly logo: UploadedPicture | undefined;
  /** Pictures, and zips of pictures. */
  readonly images: readonly SentImage[];
  readonly youtube?: readonly string[] | undefined;
  readonly sketchfab?: readonly string[] | undefined;
  /** Whether sent media replace all existing media of the same kind. */
  readonly sync: boolean;
}

/** The wanted media of one kind. */
interface Wanted {
  readonly kind: store.MediaKind;
  readonly values: readonly string[];
}

/** Adds pictures and links to a mod, and replaces its logo. Either everything that was sent is stored, or nothing. */
export async function addMedia(
  app: App,
  caller: UserCaller,
  { gameId, modId }: { gameId: number; modId: number },
  { logo, images: sent, sync, ...links }: NewMedia,
): Promise<void> {
  // Checked before rendering, so that only editors of the mod can make the service render pictures.
  await requireEditor(app.db, caller, await requireMod(app.db, caller, gameId, modId), 'MOD_MEDIA_NO_ADD_PERMISSION');
  const wanted = [...linksIn('youtube', links.youtube), ...linksIn('sketchfab', links.sketchfab)];
  if (!logo && sent.length === 0 && wanted.length === 0) throw new ApiError('POST_PUT_NO_PAYLOAD');
  await using images = await unpacked(app, sent, IMAGES_MAX);
  const shown = images.pictures.map((image) => ({ ...image, ...pictureOf(image.field, galleryImage, image)[0]! }));
  const pictures: Picture[] = [...pictureOf('logo', MOD_LOGO, logo), ...shown];
  const weights = new Map(shown.map(({ folder, bytes }) => [folder, bytes]));
  if (shown.length > 0) wanted.push({ kind: 'image', values: [...weights.keys()] });
  await preparePictures(app, pictures);
  await writeAfterRemoval(app, async (transaction) => {
    await claimPictures(app, transaction, pictures);
    const allowed = await modFor(transaction, caller, gameId, modId, 'MOD_MEDIA_NO_ADD_PERMISSION');
    const mod = await applyRulesToMod(app, transaction, caller, allowed);
    let isChanged = false;
    for (const each of wanted) isChanged = (await put(app, transaction, mod, each, sync, weights)) || isChanged;
    await requireRoom(app, transaction, modId);
    if (logo) await replaceLogo(app, transaction, caller, mod, pictures[0]!.folder);
    else if (isChanged) await tell(app, transaction, caller, mod);
    if (logo || isChanged) await auditByGame(app, transaction, caller, mod, { action: 'mods.media-add' });
  });
  await completePictures(app, pictures);
}

/** The links of one kind in their stored form; invalid ones are refused. */
function linksIn(kind: LinkKind, sent: readonly string[] | undefined): Wanted[] {
  if (!sent) return [];
  const links = sent.map((link) => linkOf(kind, link));
  if (links.includes(undefined))
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: kind, rule: `${kind}_link` }] });
  return [{ kind, values: [...new Set(links as string[])] }];
}

/** Appends the wanted media of one kind, or replaces the existing ones. Returns whether anything changed. */
async function put(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  { kind, values }: Wanted,
  sync: boolean,
  weights: ReadonlyMap<string, number>,
): Promise<boolean> {
  const present = (await store.mediaOf(transaction, mod.id)).filter((row) => row.kind === kind);
  const before = present.map(({ value }) => value);
  const after = sync ? values : [...new Set([...before, ...values])];
  await removeRows(
    app,
    transaction,
    present.filter(({ value }) => !after.includes(value)),
  );
  const added = after.filter((value) => !before.includes(value));
  const rowOf = (value: string) => ({ mod_id: mod.id, kind, value, position: 0, bytes: weights.get(value) ?? 0 });
  await store.add(transaction.query, added.map(rowOf));
  await store.reorder(transaction, mod.id, kind, after);
  return before.join() !== after.join();
}

async function requireRoom(app: App, transaction: Transaction, modId: number): Promise<void> {
  const rows = await store.mediaOf(transaction, modId);
  const ofKind = (kind: store.MediaKind) => rows.filter((row) => row.kind === kind);
  const images = ofKind('image');
  if (images.length > IMAGES_MAX) throw new ApiError('MEDIA_EXCEEDS_FILE_CAPACITY');
  if (images.reduce((sum, { bytes }) => sum + bytes, 0) > app.settings.modMediaMegabytes * MEGABYTE)
    throw new ApiError('MEDIA_EXCEEDS_DIRECTORY_CAPACITY');
  for (const kind of ['youtube', 'sketchfab'] as const)
    if (ofKind(kind).length > LINKS_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: kind, rule: 'array_max', values: { max: LINKS_MAX } }],
      });
}

async function replaceLogo(app: App, transaction: Transaction, caller: UserCaller, mod: ModRow, logo: string) {
  await applyModChanges(app, transaction, mod, { logo }, caller.userId);
  if (mod.logo && mod.logo !== logo) await reviewPicture(app, transaction, mod.logo);
}

/** Pictures by filename, links by address. An empty list means everything of its kind. */
export interface NamedMedia {
  readonly images?: readonly string[] | undefined;
  readonly youtube?: readonly string[] | undefined;
  readonly sketchfab?: readonly string[] | undefined;
}

/** Missing media are ignored, because they are gone already. */
export async function removeMedia(
  app: App,
  caller: UserCaller,
  { gameId, modId }: { gameId: number; modId: number },
  named: NamedMedia,
): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await modFor(transaction, caller, gameId, modId, 'MOD_MEDIA_NO_DELETE_PERMISSION');
    const names = namesByKind(named);
    const removed = (await store.mediaOf(transaction, modId)).filter((row) => {
      const wanted = names[row.kind];
      return wanted !== undefined && (wanted.length === 0 || wanted.includes(nameOf(row)));
    });
    await removeRows(app, transaction, removed);
    if (removed.length === 0) return;
    await tell(app, transaction, caller, mod);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.media-remove' });
  });
}

/** Reorders the media of a mod. The request must name all media of each sent kind, and nothing else. */
export async function reorderMedia(
  app: App,
  caller: UserCaller,
  { gameId, modId }: { gameId: number; modId: number },
  named: NamedMedia,
): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await modFor(transaction, caller, gameId, modId, 'MOD_MEDIA_NO_DELETE_PERMISSION');
    const rows = await store.mediaOf(transaction, modId);
    let isChanged = false;
    for (const [kind, names] of Object.entries(namesByKind(named)) as [store.MediaKind, string[] | undefined][]) {
      if (!names) continue;
      const present = new Map(rows.filter((row) => row.kind === kind).map((row) => [nameOf(row), row.value]));
      const isSame = names.length === present.size && new Set(names).isSubsetOf(present) && isEachOnce(names);
      if (!isSame) throw new ApiError('MOD_MEDIA_REORDER_ONLY');
      await store.reorder(
        transaction,
        modId,
        kind,
        names.map((name) => present.get(name)!),
      );
      isChanged ||= names.join() !== [...present.keys()].join();
    }
    if (!isChanged) return;
    await tell(app, transaction, caller, mod);
    await auditByGame(app, transaction, caller, mod, { action: 'mods.media-reorder' });
  });
}

const isEachOnce = (names: readonly string[]) => new Set(names).size === names.length;

/** The name of a row in requests. */
const nameOf = ({ kind, value }: store.MediaRow) => (kind === 'image' ? filenameOf(value) : value);

/** A link in any form names the stored one; an invalid link names nothing. */
function namesByKind({ images, youtube, sketchfab }: NamedMedia) {
  const keptAs = (kind: LinkKind, links?: readonly string[]) => links?.map((link) => linkOf(kind, link) ?? link);
  return { image: images, youtube: keptAs('youtube', youtube), sketchfab: keptAs('sketchfab', sketchfab) };
}

async function removeRows(app: App, transaction: Transaction, rows: readonly store.MediaRow[]): Promise<void> {
  await store.remove(
    transaction.query,
    rows.map(({ id }) => id),
  );
  for (const { kind, value } of rows) if (kind === 'image') await reviewPicture(app, transaction, value);
}

const tell = (app: App, transaction: Transaction, caller: UserCaller, mod: ModRow) =>
  modChanged(app, transaction, mod, { userId: caller.userId });

async function requireEditor(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  mod: { id: number; game_id: number },
  refusal: ErrorName,
): Promise<void> {
  if (!mayEdit(await levelsOf(reader, caller, mod))) throw new ApiError(refusal);
}

async function modFor(transaction: Transaction, caller: Caller, gameId: number, modId: number, refusal: ErrorName) {
  const mod = await requireModForChange(transaction, caller, gameId, modId);
  await requireEditor(transaction, caller, mod, refusal);
  return mod;
}
