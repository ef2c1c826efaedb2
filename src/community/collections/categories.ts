/** The purposes of collections, by their stored number. */
export const CATEGORIES = { 1: 'Essential', 2: 'Miscellaneous', 3: 'Themed' } as const;
export const MISCELLANEOUS = 2;

export type CategoryName = (typeof CATEGORIES)[keyof typeof CATEGORIES];

export const CATEGORY_NUMBERS: Readonly<Record<string, number>> = Object.assign(
  Object.create(null),
  Object.fromEntries(Object.entries(CATEGORIES).map(([number, name]) => [name.toLowerCase(), Number(number)])),
);

/** Parses a category: its number, or its name in any case. */
export function categoryOf(text: string): number | undefined {
  const wanted = text.trim().toLowerCase();
  return Object.hasOwn(CATEGORIES, wanted) ? Number(wanted) : CATEGORY_NUMBERS[wanted];
}

export const categoryName = (category: number): CategoryName => CATEGORIES[category as keyof typeof CATEGORIES];

/** The tags of collections, the same in every game. */
export const COLLECTION_TAGS = [
  'ANIMATION',
  'AUDIO',
  'BUGFIXES',
  'CHEATING',
  'ENVIRONMENT',
  'GAMEPLAY',
  'QUALITY_OF_LIFE',
  'UI',
  'VISUAL',
] as const;

export type CollectionTag = (typeof COLLECTION_TAGS)[number];

export const tagsOf = (tags: string): CollectionTag[] => (tags === '' ? [] : (tags.split(',') as CollectionTag[]));

/** Converts the tag so that it can be compared with names of a game’s tags: "Quality of Life". */
export const tagNamed = (name: string): string =>
  name
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
