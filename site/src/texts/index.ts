import loaders from 'virtual:texts';
import type { Areas, Everywhere } from '../../.svelte-kit/texts.d.ts';
import { sectionOf } from './sections.ts';

/** A folder beside this file: the texts of some pages. */
export type Area = keyof Areas;
/** The texts of every page, and of the areas that a page loads beside them. */
export type Texts<More extends Area = never> = Pick<Areas, Everywhere | More>;

const RIGHT_TO_LEFT = new Set(['ar', 'he', 'fa', 'ur']);

const baseOf = (language: string) => language.split('-')[0]!;

/** The language of the site that is nearest to a language of the API. */
export const languageOf = (asked: string): string =>
  [asked, baseOf(asked)].find((language) => language in loaders) ?? 'en';

/** Accented English, from left to right or from right to left, that shows texts which are not translatable or do not fit. */
export const isPseudo = (language: string): boolean => language === 'en-XA' || language === 'ar-XB';

export const directionOf = (language: string): 'ltr' | 'rtl' => (RIGHT_TO_LEFT.has(baseOf(language)) ? 'rtl' : 'ltr');

const load = (language: string) => loaders[languageOf(language)]!();

/** Loaded one by one, so that a browser gets its own language and the areas of its page alone. */
export const textsOfEveryPage = async (language: string): Promise<Texts> => (await load(language)).default as Texts;

/** `t` of a section's layout: what its parent has, and further areas. Those of the dashboards differ by route. */
export async function withAreas<Before extends object, A extends Exclude<Area, Everywhere>>(
  before: Before,
  language: string,
  areas: readonly A[],
  route = '',
): Promise<Before & Pick<Areas, A>> {
  const { areas: loadersOf } = await load(language);
  const loaded = await Promise.all(areas.map(async (area) => [area, await loadersOf[area]!()] as const));
  const own = Object.fromEntries(loaded.map(([area, texts]) => [area, texts.default]));
  const loadSection = loaded.map(([, { sections }]) => sections?.[sectionOf(route)]).find(Boolean);
  const all = loadSection ? merged(own, (await loadSection()).default) : own;
  return { ...before, ...(all as Pick<Areas, A>) };
}

/** Two trees of texts in one. */
function merged(one: object, other: object): object {
  const result: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const before = result[key];
    result[key] = typeof before === 'object' ? merged(before as object, value) : value;
  }
  return result;
}
