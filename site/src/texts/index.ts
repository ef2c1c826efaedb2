import type { Texts } from './en.ts';

export type { Texts } from './en.ts';
export type Language = (typeof LANGUAGES)[number];

export const LANGUAGES = ['en', 'de'] as const;
const RIGHT_TO_LEFT = new Set(['ar', 'he', 'fa', 'ur']);

/** The language of the site that is nearest to a language of the API. */
export function languageOf(asked: string): Language {
  const [base] = asked.split('-');
  return LANGUAGES.find((language) => language === asked) ?? LANGUAGES.find((language) => language === base) ?? 'en';
}

export const directionOf = (language: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(language.split('-')[0]!) ? 'rtl' : 'ltr';

/** Loaded one by one, so that a browser gets its own language alone. */
const LOADERS: Record<Language, () => Promise<Texts>> = {
  en: async () => (await import('./en.ts')).en,
  de: async () => (await import('./de.ts')).de,
};

export const textsIn = (language: Language): Promise<Texts> => LOADERS[language]();
