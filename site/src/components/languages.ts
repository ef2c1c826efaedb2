/** The languages that texts of mods are read in, each in its own words, as readers look for it. */
export const CONTENT_LANGUAGES = {
  en: 'English',
  bg: 'Български',
  cs: 'Čeština',
  de: 'Deutsch',
  el: 'Ελληνικά',
  es: 'Español',
  'es-419': 'Español (Latinoamérica)',
  fr: 'Français',
  hu: 'Magyar',
  it: 'Italiano',
  ja: '日本語',
  ko: '한국어',
  pl: 'Polski',
  pt: 'Português',
  ru: 'Русский',
  th: 'ไทย',
  tr: 'Türkçe',
  uk: 'Українська',
  'zh-CN': '简体中文',
  'zh-TW': '繁體中文',
} as const;

export type ContentLanguage = keyof typeof CONTENT_LANGUAGES;

export const contentLanguageNamed = (name: string | null | undefined): ContentLanguage | undefined =>
  name && Object.hasOwn(CONTENT_LANGUAGES, name) ? (name as ContentLanguage) : undefined;

/** The languages that the API stores translations in: the original is English to it. */
export const TRANSLATIONS = (Object.keys(CONTENT_LANGUAGES) as ContentLanguage[]).filter(
  (language) => language !== 'en',
);
