/** The languages that the API stores translations in. */
export const LANGUAGES = [
  'ar',
  'bg',
  'zh-CN',
  'zh-TW',
  'cs',
  'fr',
  'de',
  'el',
  'id',
  'it',
  'pl',
  'pt',
  'hu',
  'ja',
  'ko',
  'ru',
  'es',
  'es-419',
  'th',
  'tr',
  'uk',
] as const;

export const languageNamed = (name: string | null | undefined) => LANGUAGES.find((language) => language === name);
