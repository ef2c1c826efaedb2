import type { Caller } from '../../access/caller.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError, type FieldProblem } from '../../errors/catalogue.ts';
import {
  headerImage,
  type ImageKind,
  ImageProblem,
  type ImageReason,
  ImagesBusy,
  iconImage,
  imageFolder,
  isImageComplete,
  isImageLeaving,
  logoImage,
  MEGAPIXELS_MAX,
  removeImage,
  renderImage,
  reviewImage,
} from '../../images/images.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';
import { applyGameChanges, requireGame } from './games.ts';
import * as store from './store.ts';

const KINDS = { logo: logoImage(640, 360), icon: iconImage, header: headerImage };
const FIELDS = ['logo', 'icon', 'header'] as const;

/** By when a new picture is in use or never will be, and those who know the address of an old one have loaded it. */
const REVIEW_SECONDS = 3_600;

type Field = (typeof FIELDS)[number];
export type GameImages = Readonly<
  Partial<Record<Field, { readonly key: string; readonly sha256: string } | undefined>>
>;

interface Picture {
  readonly field: Field;
  readonly key: string;
  readonly kind: ImageKind;
  readonly folder: string;
}

/** Puts new pictures in the place of a game's old ones. Either all that were sent are taken, or none. */
export async function addGameImages(app: App, caller: Caller, gameId: number, images: GameImages): Promise<void> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MANAGER) throw new ApiError('GAME_MEDIA_NO_ADD_PERMISSION');
  const pictures = FIELDS.flatMap((field) => pictureOf(field, images[field]));
  if (pictures.length === 0) throw new ApiError('POST_PUT_NO_PAYLOAD');
  // Whatever stops the rest of this, what was rendered by then does not stay for ever.
  await app.db.write(async (transaction) => {
    for (const { folder } of pictures) await reviewLater(app, transaction, folder);
  });
  await renderAll(app, pictures);
  await show(app, gameId, pictures);
  for (const picture of pictures)
    if (!(await isImageComplete(app.storage, picture.folder, picture.kind))) await render(app, picture);
}

const reviewLater = (app: App, transaction: Transaction, folder: string) =>
  reviewImage(app.jobs, transaction, folder, app.clock.now() + REVIEW_SECONDS);

function pictureOf(field: Field, image: GameImages[Field]): Picture[] {
  const kind = KINDS[field];
  return image ? [{ field, key: image.key, kind, folder: imageFolder(image.sha256, kind) }] : [];
}

const render = (app: App, { key, folder, kind }: Picture) => renderImage(app.storage, key, folder, kind);

async function renderAll(app: App, pictures: readonly Picture[]): Promise<void> {
  const problems: { picture: Picture; reason: ImageReason }[] = [];
  for (const picture of pictures) {
    try {
      await render(app, picture);
    } catch (error) {
      if (error instanceof ImagesBusy) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE', { cause: error });
      if (!(error instanceof ImageProblem)) throw error;
      problems.push({ picture, reason: error.reason });
    }
  }
  if (problems.length === 0) return;
  if (problems.every(({ reason }) => reason === 'corrupt')) throw new ApiError('FILE_CORRUPTED');
  throw new ApiError('VALIDATION_GENERIC', {
    fields: problems.map(({ picture, reason }) => fieldProblem(picture, reason)),
  });
}

function fieldProblem({ field, kind }: Picture, reason: ImageReason): FieldProblem {
  switch (reason) {
    case 'type':
      return { field, rule: 'image_type' };
    case 'too-small':
      return { field, rule: 'image_min_size', values: { ...kind.min } };
    case 'too-large':
      return { field, rule: 'file_max', values: { max: `${MEGAPIXELS_MAX} MP` } };
    case 'corrupt':
      return { field, rule: 'invalid' };
  }
}

async function show(app: App, gameId: number, pictures: readonly Picture[]): Promise<void> {
  const isShown = await app.db.write(async (transaction) => {
    const { query } = transaction;
    for (const { folder } of pictures) {
      await reviewLater(app, transaction, folder);
      if (await isImageLeaving(query, folder)) return false;
    }
    const before = (await store.rowIn(transaction, gameId))!;
    const changes = Object.fromEntries(pictures.map(({ field, folder }) => [field, folder]));
    await applyGameChanges(app, transaction, gameId, changes, 'en');
    for (const { field, folder } of pictures) {
      const replaced = before[field];
      if (replaced && replaced !== folder) await reviewLater(app, transaction, replaced);
    }
    return true;
  });
  // The same picture is being removed at this very moment. A second attempt of the caller will do.
  if (!isShown) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE');
}

/** A folder may be shared, so it goes when the last row that named it has gone. */
export async function removeUnusedImage(app: App, folder: string): Promise<void> {
  if (!(await store.isImageUsed(app.db.query, folder))) await removeImage(app.storage, folder);
}
