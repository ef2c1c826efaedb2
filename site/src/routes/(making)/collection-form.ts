import { filesOf, textOf, textsOf } from './forms.ts';

export const CATEGORIES = ['Essential', 'Themed', 'Miscellaneous'] as const;
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
export const COLLECTION_FIELDS = ['name', 'summary', 'description', 'category', 'tags', 'logo', 'name_id', 'visible'];

/** The fields of a collection that its form has. */
export function collectionFrom(form: FormData) {
  const [logo] = filesOf(form, 'logo');
  const nameId = textOf(form, 'name_id');
  const visible = textOf(form, 'visible');
  return {
    name: textOf(form, 'name') ?? '',
    summary: textOf(form, 'summary') ?? '',
    description: textOf(form, 'description') ?? '',
    category: textOf(form, 'category') ?? CATEGORIES[0],
    tags: textsOf(form, 'tags'),
    ...(visible !== undefined && { visible: visible === '0' ? (0 as const) : (1 as const) }),
    ...(nameId && { name_id: nameId }),
    ...(logo && { logo }),
  };
}
