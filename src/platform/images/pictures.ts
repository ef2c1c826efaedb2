import type { Database, Transaction } from '../database/database.ts';
import { ApiError, type FieldProblem } from '../errors/catalogue.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { requireNoRemoval } from '../jobs/removals.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type ImageKind,
  ImageProblem,
  type ImageReason,
  ImagesBusy,
  imageFolder,
  isImageComplete,
  MEGAPIXELS_MAX,
  REMOVE_UNUSED_IMAGE,
  renderImage,
  reviewImage,
} from './images.ts';

/** After this time a new picture is either in use or abandoned, and clients have loaded the old one. */
const REVIEW_SECONDS = 3_600;

export interface PictureParts {
  readonly db: Database;
  readonly storage: Storage;
  readonly jobs: Jobs;
  readonly clock: Clock;
}

export interface UploadedPicture {
  readonly key: string;
  readonly sha256: string;
}

/** An upload and the folder that it will be shown from. */
export interface Picture<F extends string = string> {
  readonly field: F;
  readonly key: string;
  readonly kind: ImageKind;
  readonly folder: string;
}

export function pictureOf<F extends string>(
  field: F,
  kind: ImageKind,
  upload: UploadedPicture | undefined,
): Picture<F>[] {
  return upload ? [{ field, key: upload.key, kind, folder: imageFolder(upload.sha256, kind) }] : [];
}

export const reviewPicture = (parts: PictureParts, transaction: Transaction, folder: string) =>
  reviewImage(parts.jobs, transaction, folder, parts.clock.now() + REVIEW_SECONDS);

/**
 * First step: renders all pictures, or reports the problems of all. A later review removes them if the remaining steps
 * fail.
 */
export async function preparePictures(parts: PictureParts, pictures: readonly Picture[]): Promise<void> {
  if (pictures.length === 0) return;
  await parts.db.write(async (transaction) => {
    for (const { folder } of pictures) await reviewPicture(parts, transaction, folder);
  });
  await renderAll(parts, pictures);
}

/** Second step, in the transaction that stores the folder names, which `writeAfterRemoval` runs. */
export async function claimPictures(
  parts: PictureParts,
  transaction: Transaction,
  pictures: readonly Picture[],
): Promise<void> {
  for (const { folder } of pictures) {
    await reviewPicture(parts, transaction, folder);
    await requireNoRemoval(transaction, REMOVE_UNUSED_IMAGE, folder);
  }
}

/** Last step: renders again what a removal deleted between the first step and the second. */
export async function completePictures(parts: PictureParts, pictures: readonly Picture[]): Promise<void> {
  for (const picture of pictures)
    if (!(await isImageComplete(parts.storage, picture.folder, picture.kind))) await render(parts, picture);
}

const render = ({ storage }: PictureParts, { key, folder, kind }: Picture) => renderImage(storage, key, folder, kind);

async function renderAll(parts: PictureParts, pictures: readonly Picture[]): Promise<void> {
  const problems: { picture: Picture; reason: ImageReason }[] = [];
  for (const picture of pictures) {
    try {
      await render(parts, picture);
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
