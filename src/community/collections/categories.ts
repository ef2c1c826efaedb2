/** What a collection is for, by the number under which it is stored. */
export const CATEGORIES = { 1: 'Essential', 2: 'Miscellaneous', 3: 'Themed' } as const;
export const MISCELLANEOUS = 2;

export type CategoryName = (typeof CATEGORIES)[keyof typeof CATEGORIES];

export const CATEGORY_NUMBERS: Readonly<Record<string, number>> = Object.assign(
  Object.create(null),
  Object.fromEntries(Object.entries(CATEGORIES).map(([number, name]) => [name.toLowerCase(), Number(number)])),
);

/** A category as requests name it: by its number, or by its name in any case. */
export function categoryOf(text: string): number | undefined {
  const wanted = text.trim().toLowerCase();
  return Object.hasOwn(CATEGORIES, wanted) ? Number(wanted) : CATEGORY_NUMBERS[wanted];
}

export const categoryName = (category: number): CategoryName => CATEGORIES[category as keyof typeof CATEGORIES];

/** What collections are tagged with, in every game. */
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

/** The tag in the form in which names of a game's tags can be compared with it: "Quality of Life". */
export const tagNamed = (name: string): string =>
  name
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
