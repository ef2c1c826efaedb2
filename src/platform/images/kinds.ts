export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What a picture is for: how large it has to be, and the sizes in which it is offered. */
export interface ImageKind {
  readonly name: 'logo' | 'icon' | 'header' | 'avatar' | 'image';
  readonly min: Size;
  readonly thumbs: readonly Size[];
}

/** Beyond this the decoded picture alone would fill the memory of a small machine. */
export const MEGAPIXELS_MAX = 40;

const size = (width: number, height: number): Size => ({ width, height });
const square = (side: number): Size => size(side, side);

/** Games and mods ask for logos of different sizes and show them in the same ones. */
export const logoImage = (widthMin: number, heightMin: number): ImageKind => ({
  name: 'logo',
  min: size(widthMin, heightMin),
  thumbs: [size(320, 180), size(640, 360), size(1280, 720)],
});
export const iconImage: ImageKind = { name: 'icon', min: square(64), thumbs: [64, 128, 256].map(square) };
export const headerImage: ImageKind = { name: 'header', min: size(400, 100), thumbs: [] };
export const avatarImage: ImageKind = { name: 'avatar', min: square(1), thumbs: [50, 100].map(square) };
/** A picture among a mod's media: of any size, for what is worth showing is not ours to say. */
export const galleryImage: ImageKind = { name: 'image', min: square(1), thumbs: [size(320, 180), size(1280, 720)] };

export const thumbName = ({ width, height }: Size): string => `thumb_${width}x${height}`;

/** The names, without `.png`, under which a picture of this kind lies in its folder. */
export const namesOf = (kind: ImageKind): string[] => ['original', ...kind.thumbs.map(thumbName)];
