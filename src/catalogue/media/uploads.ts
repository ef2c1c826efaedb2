import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { type ArchivedPicture, isArchive, picturesIn } from '../../platform/images/archive.ts';
import { ImageProblem } from '../../platform/images/images.ts';

export const IMAGE_BYTES_MAX = 8 * 1_024 * 1_024;

/** An uploaded file that is a picture or, if `mayBeArchive`, a zip of them. */
export interface SentImage {
  readonly field: string;
  readonly key: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly mayBeArchive: boolean;
}

/** Uploads of one picture each. Disposing removes the unpacked files. */
export interface Unpacked extends AsyncDisposable {
  readonly pictures: readonly Omit<SentImage, 'mayBeArchive'>[];
}

export async function unpacked(app: App, sent: readonly SentImage[], most: number): Promise<Unpacked> {
  const keys: string[] = [];
  const removeUnpacked = async () => void (await Promise.all(keys.map((key) => app.storage.remove(key))));
  try {
    const pictures = [];
    for (const upload of sent) {
      if (!upload.mayBeArchive || !(await isArchive(app.storage, upload.key))) pictures.push(upload);
      else for (const each of await archived(app, upload, most)) pictures.push(await stored(app, upload, each, keys));
      if (pictures.length > most) throw new ApiError('MEDIA_EXCEEDS_FILE_CAPACITY');
    }
    return { pictures, [Symbol.asyncDispose]: removeUnpacked };
  } catch (error) {
    await removeUnpacked();
    if (!(error instanceof ImageProblem)) throw error;
    throw new ApiError('FILE_CORRUPTED', { cause: error });
  }
}

async function archived(app: App, { field, key }: SentImage, most: number): Promise<ArchivedPicture[]> {
  const pictures = await picturesIn(app.storage, key);
  if (pictures.length > most) throw new ApiError('MEDIA_EXCEEDS_FILE_CAPACITY');
  if (pictures.some(({ bytes }) => bytes > IMAGE_BYTES_MAX))
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field, rule: 'file_max', values: { max: `${IMAGE_BYTES_MAX / 1_024 / 1_024} MB` } }],
    });
  return pictures;
}

async function stored(app: App, { field }: SentImage, picture: ArchivedPicture, keys: string[]) {
  const key = `incoming/${app.random.uuid()}`;
  keys.push(key);
  return { field, key, ...(await app.storage.put(key, await picture.unpack())) };
}
