import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { LANGUAGES, type Language, TERMS_ONLY } from '../src/platform/localisation/languages.ts';
import { VARIANTS } from '../src/platform/localisation/translations.ts';

type Texts = Readonly<Record<string, string>>;

interface Area {
  readonly name: string;
  readonly folder: URL;
  /** Two languages have the terms dialog only. */
  readonly inAll?: boolean;
}

const below = (path: string) => new URL(`../${path}/`, import.meta.url);

/** Every folder of texts that the service shows, with a file per language. */
export const AREAS: readonly Area[] = [
  { name: 'errors', folder: below('src/platform/errors/messages/errors') },
  { name: 'validation', folder: below('src/platform/errors/messages/validation') },
  { name: 'answers', folder: below('src/platform/localisation/texts/answers') },
  { name: 'mails', folder: below('src/platform/localisation/texts/mails') },
  { name: 'pages', folder: below('src/platform/localisation/texts/pages') },
  { name: 'terms dialog', folder: below('src/people/agreements/dialog'), inAll: true },
];

const read = ({ folder }: Area, language: string): Texts => {
  const file = new URL(`${language}.json`, folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};

export const languagesOf = ({ inAll }: Area): readonly Language[] =>
  LANGUAGES.filter((language) => inAll || !(TERMS_ONLY as readonly Language[]).includes(language));

/** The texts of a language, with those that it shares with the language that it is a variant of. */
export function textsOf(area: Area, language: Language): Texts {
  const base = VARIANTS[language];
  return { ...(base && read(area, base)), ...read(area, language) };
}

/** How many of the English texts a language has. */
export function countsOf(area: Area, language: Language): { readonly done: number; readonly all: number } {
  const english = Object.keys(read(area, 'en'));
  const texts = textsOf(area, language);
  return { done: english.filter((key) => key in texts).length, all: english.length };
}

const PLURAL = 6;
type Element = ReturnType<IntlMessageFormat['getAst']>[number];
interface Parts {
  readonly names: Set<string>;
  readonly plurals: Set<string>[];
}

function collect(elements: readonly Element[], parts: Parts): Parts {
  for (const element of elements) {
    if ('value' in element && element.type !== 0) parts.names.add(element.value);
    if (!('options' in element)) continue;
    if (element.type === PLURAL) parts.plurals.push(new Set(Object.keys(element.options)));
    for (const option of Object.values(element.options)) collect(option.value, parts);
  }
  return parts;
}

const partsOf = (text: string, language: string): Parts =>
  collect(new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).getAst(), {
    names: new Set(),
    plurals: [],
  });
const sorted = (names: ReadonlySet<string>) => [...names].sort().join(', ');

/** Texts that are the same in English: names, and words that the language borrowed. */
const SAME_AS_ENGLISH: Readonly<Record<string, readonly Language[]>> = JSON.parse(
  readFileSync(new URL('same-as-english.json', import.meta.url), 'utf8'),
);

/** Quotation marks that belong to another language. */
const FOREIGN_QUOTES: Partial<Record<Language, RegExp>> = {
  de: /[“«»](?=\w)|”/,
  fr: /[“”„]/,
  es: /[“”„]/,
  ja: /[“”„«»]/,
  'zh-TW': /[“”„«»]/,
  ko: /[„«»]/,
  ru: /[“”]/,
  uk: /[“”]/,
  el: /[„]/,
  pl: /[“](?=[\p{L}{])/u,
  cs: /[”]/,
  hu: /[“](?=[\p{L}{])/u,
  bg: /[”](?=[\p{L}{])/u,
};

function* problemsOfText(key: string, text: string, english: string, language: Language): Generator<string> {
  if (text !== text.trim() || text === '') yield 'is blank or has blanks around it';
  if (/<\/?[a-z]/i.test(text)) yield 'has HTML';
  if (/'[{}<#|']/.test(text)) yield 'has an apostrophe that quotes in ICU messages: write ’';
  if (FOREIGN_QUOTES[language]?.test(text)) yield 'has the quotation marks of another language';
  if (language !== 'en' && text === english && !SAME_AS_ENGLISH[key]?.includes(language))
    yield 'is the same as English';
  const parts = partsOf(text, language);
  const expected = partsOf(english, 'en');
  if (sorted(parts.names) !== sorted(expected.names))
    yield `has the arguments ${sorted(parts.names)} instead of ${sorted(expected.names)}`;
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  for (const plural of parts.plurals)
    for (const category of pluralCategories) if (!plural.has(category)) yield `lacks the plural form “${category}”`;
}

function problemOf(key: string, text: string, english: string, language: Language): string[] {
  try {
    return [...problemsOfText(key, text, english, language)];
  } catch (error) {
    return [`is no ICU message: ${(error as Error).message}`];
  }
}

/** What is wrong with the texts of a language in an area, in words. */
export function problemsOf(area: Area, language: Language): string[] {
  const english = read(area, 'en');
  const own = read(area, language);
  const known = Object.keys(english);
  if (countsOf(area, language).done === 0) return [`${area.name}/${language}.json is missing`];
  const at = (key: string, problem: string) => `${area.name}/${language}.json: ${key} ${problem}`;
  const order = known.filter((key) => key in own);
  const texts = textsOf(area, language);
  return [
    ...known.filter((key) => !(key in texts)).map((key) => at(key, 'is missing')),
    ...Object.keys(own)
      .filter((key) => !(key in english))
      .map((key) => at(key, 'is no text of English')),
    ...(Object.keys(own)
      .filter((key) => key in english)
      .join() === order.join()
      ? []
      : [at('the order', 'of the texts is not that of English')]),
    ...order.flatMap((key) =>
      problemOf(key, own[key]!, english[key]!, language).map((problem) => at(key, `${problem}: ${own[key]}`)),
    ),
  ];
}

/** Files of languages that the API does not have. */
export const strayFiles = ({ folder, name }: Area): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json') && !(LANGUAGES as readonly string[]).includes(file.replace('.json', '')))
    .map((file) => `${name}/${file} is for no language of the API`);
