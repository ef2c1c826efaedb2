import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { LANGUAGES, type Language, TERMS_ONLY } from '../src/platform/localisation/languages.ts';
import { VARIANTS } from '../src/platform/localisation/translations.ts';

type Texts = Readonly<Record<string, string>>;

export interface Area {
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
  { name: 'checks', folder: below('src/platform/localisation/texts/checks') },
  { name: 'commands', folder: below('src/platform/localisation/texts/commands') },
  { name: 'mails', folder: below('src/platform/localisation/texts/mails') },
  { name: 'pages', folder: below('src/platform/localisation/texts/pages') },
  { name: 'terms dialog', folder: below('src/people/agreements/dialog'), inAll: true },
  ...readdirSync(below('site/src/texts'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name: `site ${name}`, folder: below(`site/src/texts/${name}`) })),
];

/** The texts of a file of an area; none if there is no such file. */
export const read = ({ folder }: Area, language: string): Texts => {
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

/** Texts that are the same in English, by area: names, and words that the language borrowed. */
const SAME_AS_ENGLISH: Readonly<Record<string, Readonly<Record<string, readonly Language[]>>>> = JSON.parse(
  readFileSync(new URL('same-as-english.json', import.meta.url), 'utf8'),
);

/** Labels of buttons and fields are at most this long in English. */
const LABEL_MAX = 24;
/** What a label of this length may take in another language, so that it fits where English does. */
export const labelMax = (english: string): number | undefined =>
  english.length > LABEL_MAX || english.includes(',') ? undefined : Math.ceil(english.length * 1.8) + 12;

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

function* problemsOfText(
  area: Area,
  key: string,
  text: string,
  english: string,
  language: Language,
): Generator<string> {
  if (text !== text.trim() || text === '') yield 'is blank or has blanks around it';
  if (/<\/?[a-z]/i.test(text)) yield 'has HTML';
  if (/'[{}<#|']/.test(text)) yield 'has an apostrophe that quotes in ICU messages: write ’';
  if (FOREIGN_QUOTES[language]?.test(text)) yield 'has the quotation marks of another language';
  if (language !== 'en' && text === english && !SAME_AS_ENGLISH[area.name]?.[key]?.includes(language))
    yield 'is the same as English';
  const max = labelMax(english);
  if (max !== undefined && text.length > max) yield `is longer than ${max} characters`;
  for (const [term, translations] of termsIn(english, language))
    if (!translations.some((stem) => text.toLowerCase().includes(stem)))
      yield `does not say “${term}” as agreed (${translations.join(', ')})`;
  const parts = partsOf(text, language);
  const expected = partsOf(english, 'en');
  if (sorted(parts.names) !== sorted(expected.names))
    yield `has the arguments ${sorted(parts.names)} instead of ${sorted(expected.names)}`;
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
  // A text that tells only exact numbers apart, such as none and some, needs no forms.
  const counts = expected.plurals.some((forms) => forms.has('one'));
  for (const plural of counts ? parts.plurals : [])
    for (const category of pluralCategories) if (!plural.has(category)) yield `lacks the plural form “${category}”`;
}

type Terms = Readonly<Record<string, readonly string[]>>;
const terms = new Map<Language, Terms>();

/** The agreed translations of the terms that an English text has, as the beginnings of words. */
function termsIn(english: string, language: Language): [string, readonly string[]][] {
  const file = new URL(`terms/${language}.json`, import.meta.url);
  const known: Terms = terms.get(language) ?? (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
  terms.set(language, known);
  const words = english.replace(/\{\w+/g, '{').toLowerCase();
  return Object.entries(known).filter(([term]) => new RegExp(`\\b${term}`).test(words));
}

function problemOf(area: Area, key: string, text: string, english: string, language: Language): string[] {
  try {
    return [...problemsOfText(area, key, text, english, language)];
  } catch (error) {
    return [`is no ICU message: ${(error as Error).message}`];
  }
}

/** What is wrong with the texts of a language in an area, in words. */
export function problemsOf(area: Area, language: Language, own: Texts = read(area, language)): string[] {
  const english = read(area, 'en');
  const known = Object.keys(english);
  if (countsOf(area, language).done === 0) return [`${area.name}/${language}.json is missing`];
  const at = (key: string, problem: string) => `${area.name}/${language}.json: ${key} ${problem}`;
  const order = known.filter((key) => key in own);
  const texts = { ...textsOf(area, language), ...own };
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
      problemOf(area, key, own[key]!, english[key]!, language).map((problem) => at(key, `${problem}: ${own[key]}`)),
    ),
  ];
}

/** Beside the languages a folder has what translators need to know about its texts. */
const NOTES = 'notes';

/** The note for a text: its own, or that of the longest beginning, which ends in `*`. */
export function noteOf(area: Area, key: string): string | undefined {
  const notes = read(area, NOTES);
  const [nearest] = Object.keys(notes)
    .filter((name) => name === key || (name.endsWith('*') && key.startsWith(name.slice(0, -1))))
    .sort((a, b) => b.length - a.length);
  return nearest === undefined ? undefined : notes[nearest];
}

/** Texts without a note, and notes without a text. The errors of the catalogue say themselves when they happen. */
export function problemsOfNotes(area: Area): string[] {
  if (area.name === 'errors') return [];
  const keys = Object.keys(read(area, 'en'));
  return [
    ...keys
      .filter((key) => noteOf(area, key) === undefined)
      .map((key) => `${area.name}/${NOTES}.json: ${key} has no note for translators`),
    ...Object.keys(read(area, NOTES))
      .filter((name) => !keys.some((key) => (name.endsWith('*') ? key.startsWith(name.slice(0, -1)) : key === name)))
      .map((name) => `${area.name}/${NOTES}.json: ${name} is no text`),
  ];
}

/** Files of languages that the API does not have. */
export const strayFiles = ({ folder, name }: Area): string[] =>
  readdirSync(folder)
    .filter(
      (file) =>
        file !== `${NOTES}.json` &&
        file.endsWith('.json') &&
        !(LANGUAGES as readonly string[]).includes(file.replace('.json', '')),
    )
    .map((file) => `${name}/${file} is for no language of the API`);
