export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The purpose of a picture: its minimum size, and the sizes of its thumbnails. */
export interface ImageKind {
  readonly name: 'logo' | 'icon' | 'header' | 'avatar' | 'image';
  readonly min: Size;
  readonly thumbs: readonly Size[];
}

/** A larger decoded picture would fill the memory of a small machine. */
export const MEGAPIXELS_MAX = 40;

const size = (width: number, height: number): Size => ({ width, height });
const square = (side: number): Size => size(side, side);

/** Games and mods require different minimum sizes of logos, but use the same thumbnails. */
export const logoImage = (widthMin: number, heightMin: number): ImageKind => ({
  name: 'logo',
  min: size(widthMin, heightMin),
  thumbs: [size(320, 180), size(640, 360), size(1280, 720)],
});
export const iconImage: ImageKind = { name: 'icon', min: square(64), thumbs: [64, 128, 256].map(square) };
export const headerImage: ImageKind = { name: 'header', min: size(400, 100), thumbs: [] };
export const avatarImage: ImageKind = { name: 'avatar', min: square(1), thumbs: [50, 100].map(square) };
/** A picture in the gallery of a mod, of any size. */
export const galleryImage: ImageKind = { name: 'image', min: square(1), thumbs: [size(320, 180), size(1280, 720)] };

export const thumbName = ({ width, height }: Size): string => `thumb_${width}x${height}`;

/** The file names, without `.png`, of a picture of this kind in its folder. */
export const namesOf = (kind: ImageKind): string[] => ['original', ...kind.thumbs.map(thumbName)];
