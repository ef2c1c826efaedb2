import loaders from 'virtual:texts';
import type { Areas, Everywhere } from '../../.svelte-kit/texts.d.ts';

/** A folder beside this file: the texts of some pages. */
export type Area = keyof Areas;
/** The texts of every page, and of the areas that a page loads beside them. */
export type Texts<More extends Area = never> = Pick<Areas, Everywhere | More>;

const RIGHT_TO_LEFT = new Set(['ar', 'he', 'fa', 'ur']);

const baseOf = (language: string) => language.split('-')[0]!;

/** The language nearest to the asked one that has the texts. */
const nearest = (name: string, asked: string): string =>
  [asked, baseOf(asked)].find((language) => `${name}/${language}` in loaders) ?? 'en';

/** The language of the site that is nearest to a language of the API. */
export const languageOf = (asked: string): string => nearest('everywhere', asked);

/** Accented English, from left to right or from right to left, that shows texts which are not translatable or do not fit. */
export const isPseudo = (language: string): boolean => language === 'en-XA' || language === 'ar-XB';

export const directionOf = (language: string): 'ltr' | 'rtl' => (RIGHT_TO_LEFT.has(baseOf(language)) ? 'rtl' : 'ltr');

const load = async (name: string, language: string): Promise<unknown> =>
  (await loaders[`${name}/${nearest(name, language)}`]!()).default;

/** Loaded one by one, so that a browser gets its own language and the areas of its page alone. */
export const textsOfEveryPage = (language: string): Promise<Texts> => load('everywhere', language) as Promise<Texts>;

/** `t` of a section's layout: what its parent has, and further areas. */
export async function withAreas<Before extends object, A extends Exclude<Area, Everywhere>>(
  before: Before,
  language: string,
  areas: readonly A[],
): Promise<Before & Pick<Areas, A>> {
  const loaded = await Promise.all(areas.map(async (area) => [area, await load(area, language)] as const));
  return { ...before, ...(Object.fromEntries(loaded) as Pick<Areas, A>) };
}
