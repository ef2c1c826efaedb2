import type { App } from '../../platform/app.ts';
import { avatarImage, galleryImage, headerImage, iconImage, logoImage, namesOf } from '../../platform/images/images.ts';
import { reviewPicture } from '../../platform/images/pictures.ts';
import type { StoredObjects } from '../../platform/storage/inventory.ts';
import * as store from './store.ts';

const KINDS = [logoImage(1, 1), iconImage, headerImage, avatarImage, galleryImage];
const folderOf = (key: string) => key.slice(0, key.lastIndexOf('/'));

/** The pictures that a folder should contain; its name ends with their kind. */
function picturesIn(folder: string): string[] {
  const kind = KINDS.find(({ name }) => folder.endsWith(`-${name}`));
  return kind ? namesOf(kind).map((name) => `${folder}/${name}.png`) : [];
}

/**
 * Pictures of games, mods, media and users, which share folders. A lost picture stays referenced, because only its
 * owner can send it again; until then its address is not found. None has a hash, because each is rendered from an
 * upload.
 */
export const storedPictures: StoredObjects<App> = {
  prefix: 'images/',
  referenced: async function* ({ db }) {
    for (const { folder, owner } of await store.imagesInUse(db.query))
      for (const key of picturesIn(folder)) yield { key, owner };
  },
  isReferenced: ({ db }, key) => store.isImageUsed(db.query, folderOf(key)),
  repairRow: async () => false,
  removeLeftOver: (app, key) => app.db.write((transaction) => reviewPicture(app, transaction, folderOf(key))),
};
