/** The language codes of the API. English is the default. */
export const LANGUAGES = [
  'en',
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

export type Language = (typeof LANGUAGES)[number];

/** Languages in which only the terms dialog is translated. */
export const TERMS_ONLY = ['ar', 'id'] as const satisfies readonly Language[];

/** The language of the texts that a reader of this language gets. */
export const shownLanguage = (language: Language): Language =>
  (TERMS_ONLY as readonly Language[]).includes(language) ? 'en' : language;

/** The translations of a text into languages other than English. */
export type Translations = Partial<Record<Language, string>>;

// Spanish regions that Unicode CLDR places under es-419; the others (es-ES, es-GQ, es-PH) are plain Spanish.
const LATIN_AMERICA = 'ar bo br bz cl co cr cu do ec gt hn mx ni pa pe pr py sv us uy ve'.split(' ');

const languageByTag: ReadonlyMap<string, Language> = new Map<string, Language>([
  ...LANGUAGES.map((language) => [language.toLowerCase(), language] as const),
  ...LATIN_AMERICA.map((region) => [`es-${region}`, 'es-419'] as const),
  ['zh', 'zh-CN'],
  ['zh-hans', 'zh-CN'],
  ['zh-hant', 'zh-TW'],
  ['zh-hk', 'zh-TW'],
  ['zh-mo', 'zh-TW'],
  // The code of Indonesian before 1989, which older Java and Android systems still send.
  ['in', 'id'],
]);

const SUBTAGS_MAX = 3;
const CACHE_ENTRIES_MAX = 1000;
const CACHED_HEADER_LENGTH_MAX = 256;
const negotiated = new Map<string, Language | undefined>();

/**
 * The preferred supported language of an Accept-Language header (weights: RFC 9110, lookup: RFC 4647). Undefined if the
 * header is missing, invalid or accepts any language; the caller then uses the language of the user's profile, or
 * English.
 */
export function negotiate(header: string | undefined): Language | undefined {
  if (!header) return undefined;
  if (negotiated.has(header)) return negotiated.get(header);
  const language = preferred(header);
  if (header.length <= CACHED_HEADER_LENGTH_MAX) remember(header, language);
  return language;
}

/** The supported language of one code, such as a Content-Language header or a profile setting. */
export function languageOf(code: string | undefined): Language | undefined {
  return code === undefined ? undefined : lookUp(normalise(code));
}

/** The language of submitted content. A language in which only the terms are translated counts as invalid. */
export function contentLanguageOf(code: string | undefined): Language | undefined {
  const language = languageOf(code);
  return language && shownLanguage(language) === language ? language : undefined;
}

/** The translation if there is one, otherwise the English text. */
export function pick(translations: Translations | undefined, english: string, language: Language): string {
  return (language !== 'en' && translations?.[language]) || english;
}

function preferred(header: string): Language | undefined {
  const ranges = header.split(',').map(parseRange);
  // `de;q=0` excludes German, including a `de-AT` in the same header; `de-AT;q=0` excludes no supported language.
  const refused = new Set(ranges.filter(({ weight }) => weight === 0).map(({ tag }) => languageByTag.get(tag)));
  let best: { language: Language; weight: number } | undefined;
  for (const { tag, weight } of ranges) {
    if (!(weight > (best?.weight ?? 0))) continue;
    const language = lookUp(tag);
    if (language && !refused.has(language)) best = { language, weight };
  }
  return best?.language;
}

/** A range without a valid weight gets NaN, which is never greater than another weight. */
function parseRange(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';');
  const quality = parameters.map((parameter) => parameter.trim().toLowerCase()).find((text) => text.startsWith('q='));
  return { tag: normalise(tag), weight: quality === undefined ? 1 : parseWeight(quality.slice(2)) };
}

function parseWeight(text: string): number {
  const weight = /^[01](?:\.\d*)?$/.test(text) ? Number(text) : Number.NaN;
  return weight <= 1 ? weight : Number.NaN;
}

function normalise(tag: string): string {
  return tag.trim().toLowerCase().replaceAll('_', '-');
}

/** RFC 4647 lookup: the tag, then the tag without its last part, and so on. No known tag has more than three. */
function lookUp(tag: string): Language | undefined {
  const subtags = tag.split('-', SUBTAGS_MAX);
  for (let length = subtags.length; length > 0; length -= 1) {
    const language = languageByTag.get(subtags.slice(0, length).join('-'));
    if (language) return language;
  }
  return undefined;
}

function remember(header: string, language: Language | undefined): void {
  if (negotiated.size >= CACHE_ENTRIES_MAX) {
    const [oldest] = negotiated.keys();
    if (oldest !== undefined) negotiated.delete(oldest);
  }
  negotiated.set(header, language);
}
