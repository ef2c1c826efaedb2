import type { App } from '../../platform/app.ts';
import { contribute } from '../../platform/extensions.ts';
import { reviewPicture } from '../../platform/images/pictures.ts';
import { type FieldsByLanguage, modExtensions } from '../mods/extensions.ts';
import { filenameOf } from './filenames.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'media',
  fields: async (app, transaction, mod) => mediaFields(app, await store.mediaOf(transaction, mod.id)),
  // Other mods may show the same pictures, so a job removes those that are unused.
  onRemove: async (app, transaction, mod) => {
    for (const { kind, value } of await store.mediaOf(transaction, mod.id))
      if (kind === 'image') await reviewPicture(app, transaction, value);
    await store.removeOfMod(transaction.query, mod.id);
  },
});

/** The fields that a mod with these media has. */
export function mediaFields(app: App, rows: readonly Pick<store.MediaRow, 'kind' | 'value'>[]): FieldsByLanguage {
  const valuesOf = (kind: store.MediaKind) => rows.filter((row) => row.kind === kind).map(({ value }) => value);
  const media = {
    youtube: valuesOf('youtube'),
    sketchfab: valuesOf('sketchfab'),
    images: valuesOf('image').map((folder) => toImage(app, folder)),
  };
  return () => ({ media });
}

function toImage(app: App, folder: string) {
  const at = (name: string) => app.addresses.file(`${folder}/${name}.png`);
  return {
    filename: filenameOf(folder),
    original: at('original'),
    thumb_320x180: at('thumb_320x180'),
    thumb_1280x720: at('thumb_1280x720'),
  };
}
