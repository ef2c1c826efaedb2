import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { reviewPicture } from '../../platform/images/pictures.ts';
import * as store from './store.ts';

/** The name under which a picture is told, removed and ordered: that of its content. */
export const filenameOf = (folder: string): string => `${folder.slice('images/'.length).split('-')[0]}.png`;

/** The media in a mod's documents. */
export async function tellMedia(app: App, transaction: Transaction, mod: { id: number }) {
  const rows = await store.mediaOf(transaction, mod.id);
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

/** A mod that is gone shows no pictures: those that nobody else shows are removed later. */
export async function removeMediaOfMod(app: App, transaction: Transaction, mod: { id: number }): Promise<void> {
  for (const { kind, value } of await store.mediaOf(transaction, mod.id))
    if (kind === 'image') await reviewPicture(app, transaction, value);
  await store.removeOfMod(transaction.query, mod.id);
}
