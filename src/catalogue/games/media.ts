import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { headerImage, iconImage, logoImage, removeImage } from '../../platform/images/images.ts';
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
import { auditGame } from '../../records/audit/audit.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';
import { changeGame, requireGame, requireGameForChange } from './games.ts';
import * as store from './store.ts';

const KINDS = { logo: logoImage(640, 360), icon: iconImage, header: headerImage };
const FIELDS = ['logo', 'icon', 'header'] as const;

export { FIELDS as GAME_IMAGES };

type Field = (typeof FIELDS)[number];
export type GameImages = Readonly<Partial<Record<Field, UploadedPicture | undefined>>>;

/** Replaces pictures of a game. Either all sent pictures are stored, or none. */
export async function addGameImages(app: App, caller: UserCaller, gameId: number, images: GameImages): Promise<void> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MANAGER) throw new ApiError('GAME_MEDIA_NO_ADD_PERMISSION');
  const pictures = await prepareGamePictures(app, images);
  if (pictures.length === 0) throw new ApiError('POST_PUT_NO_PAYLOAD');
  await show(app, caller, gameId, pictures);
  await completePictures(app, pictures);
}

async function show(app: App, caller: UserCaller, gameId: number, pictures: readonly Picture<Field>[]): Promise<void> {
  await writeAfterRemoval(app, async (transaction) => {
    const changes = await claimGamePictures(app, transaction, pictures);
    const before = (await store.rowForChange(transaction, gameId))!;
    await changeGame(app, transaction, before, changes, 'en');
    for (const { field, folder } of pictures) {
      const replaced = before[field];
      if (replaced && replaced !== folder) await reviewPicture(app, transaction, replaced);
    }
    const data = { fields: pictures.map(({ field }) => field) };
    await auditGame(app, transaction, caller, gameId, { action: 'media', data });
  });
}

/** Replaces the named pictures of a game with placeholders. */
export async function removeGameImages(app: App, caller: UserCaller, gameId: number, fields: readonly Field[]) {
  await app.db.write(async (transaction) => {
    const before = await requireGameForChange(transaction, caller, gameId);
    if ((await teamLevel(transaction, caller, 'games', gameId)) < MANAGER)
      throw new ApiError('GAME_MEDIA_NO_DELETE_PERMISSION');
    const shown = fields.filter((field) => before[field] !== null);
    if (shown.length === 0) return;
    await changeGame(app, transaction, before, Object.fromEntries(shown.map((field) => [field, null])), 'en');
    for (const field of shown) await reviewPicture(app, transaction, before[field]!);
    await auditGame(app, transaction, caller, gameId, { action: 'media', data: { removed: shown } });
  });
}

/** Renders the sent pictures, or throws one error with every problem. */
export async function prepareGamePictures(app: App, images: GameImages): Promise<Picture<Field>[]> {
  const pictures = FIELDS.flatMap((field) => pictureOf(field, KINDS[field], images[field]));
  await preparePictures(app, pictures);
  return pictures;
}

/** The folders of the pictures, which this transaction may now reference. */
export async function claimGamePictures(
  app: App,
  transaction: Transaction,
  pictures: readonly Picture<Field>[],
): Promise<Partial<Record<Field, string>>> {
  await claimPictures(app, transaction, pictures);
  return Object.fromEntries(pictures.map(({ field, folder }) => [field, folder]));
}

/** Rows may share a folder, so it is removed with the last row that names it. */
export async function removeUnusedImage(app: App, folder: string): Promise<void> {
  if (!(await store.isImageUsed(app.db.query, folder))) await removeImage(app.storage, folder);
}
