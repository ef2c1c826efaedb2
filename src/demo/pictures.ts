import { createHash } from 'node:crypto';
import type { App } from '../platform/app.ts';
import type { Transaction } from '../platform/database/database.ts';
import {
  galleryImage,
  headerImage,
  type ImageKind,
  iconImage,
  imageFolder,
  logoImage,
  type Size,
  thumbName,
} from '../platform/images/images.ts';
import { claimPictures, type Picture, reviewPicture } from '../platform/images/pictures.ts';
import { type Drawing, type Scenery, svgOf } from './drawings.ts';

export const LOGO = logoImage(640, 360);
const SIZES = {
  logo: { width: 1280, height: 720 },
  image: { width: 1280, height: 720 },
  icon: { width: 256, height: 256 },
  header: { width: 1600, height: 400 },
} satisfies Partial<Record<ImageKind['name'], Size>>;

/** Small pictures that are drawn once do not repay more work. */
const PNG = { compressionLevel: 2 } as const;
const DRAWN_AT_ONCE = 4;
/** Every such mod also has a gallery. */
const GALLERY_EVERY = 4;
const GALLERY_MAX = 3;

export interface DrawnPicture extends Picture {
  readonly bytes: number;
}

export interface ModPictures {
  readonly logo: DrawnPicture;
  readonly images: readonly DrawnPicture[];
}

interface Wanted extends Drawing {
  readonly kind: ImageKind & { readonly name: keyof typeof SIZES };
}

const wanted = (kind: ImageKind, drawing: Drawing) => ({ ...drawing, kind }) as Wanted;

/** The pictures of the first mods of a game, in their order. */
export async function picturesOfMods(
  app: App,
  seed: string,
  { mods, scenery }: { mods: number; scenery: Scenery },
): Promise<ModPictures[]> {
  const galleries = Array.from({ length: mods }, (_, index) =>
    Array.from({ length: galleryOf(index) }, (_, image) =>
      wanted(galleryImage, { seed: `${seed}/${index}/${image}`, scenery }),
    ),
  );
  const logos = galleries.map((_, index) => wanted(LOGO, { seed: `${seed}/${index}`, scenery }));
  const drawn = await draw(app, [...logos, ...galleries.flat()]);
  const images = drawn.slice(mods);
  return galleries.map(({ length }, index) => ({ logo: drawn[index]!, images: images.splice(0, length) }));
}

const galleryOf = (index: number) =>
  index % GALLERY_EVERY === 0 ? 1 + (Math.floor(index / GALLERY_EVERY) % GALLERY_MAX) : 0;

export const picturesOfGame = (app: App, seed: string, scenery: Scenery) =>
  draw(
    app,
    [LOGO, iconImage, headerImage].map((kind) => wanted(kind, { seed, scenery, ofGame: true })),
  );

export async function logoOf(app: App, drawing: Drawing): Promise<DrawnPicture> {
  const [logo] = await draw(app, [wanted(LOGO, drawing)]);
  return logo!;
}

/**
 * Draws pictures into their folders. They are our own, so they need not pass the process for untrusted ones, which
 * takes thrice the time. Like uploads they are removed later if no transaction claims them.
 */
async function draw(app: App, all: readonly Wanted[]): Promise<DrawnPicture[]> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  const one = async ({ kind, ...drawing }: Wanted): Promise<DrawnPicture> => {
    const svg = Buffer.from(svgOf(drawing, SIZES[kind.name]));
    const folder = imageFolder(createHash('sha256').update(svg).digest('hex'), kind);
    const { data, info } = await sharp(svg).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const raw = { width: info.width, height: info.height, channels: info.channels };
    const png = ({ width, height }: Size) =>
      sharp(data, { raw }).resize({ width, height, fit: 'cover' }).png(PNG).toBuffer();
    const original = await png(info);
    await app.db.write((transaction) => reviewPicture(app, transaction, folder));
    const key = `${folder}/original.png`;
    await app.storage.put(key, original);
    for (const size of kind.thumbs) {
      const isOriginal = size.width === info.width && size.height === info.height;
      await app.storage.put(`${folder}/${thumbName(size)}.png`, isOriginal ? original : await png(size));
    }
    return { field: kind.name, key, kind, folder, bytes: original.length };
  };
  const drawn: DrawnPicture[] = [];
  for (let start = 0; start < all.length; start += DRAWN_AT_ONCE)
    drawn.push(...(await Promise.all(all.slice(start, start + DRAWN_AT_ONCE).map(one))));
  return drawn;
}

/** Lets this transaction reference the pictures. */
export async function claimDrawn(app: App, transaction: Transaction, pictures: readonly Picture[]): Promise<void> {
  await claimPictures(app, transaction, pictures);
}
