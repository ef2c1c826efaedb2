import { writeFileSync } from 'node:fs';
import { catalogue } from '../src/platform/errors/catalogue.ts';
import type { Language } from '../src/platform/localisation/languages.ts';
import { VARIANTS } from '../src/platform/localisation/translations.ts';
import { AREAS, type Area, labelMax, languagesOf, noteOf, problemsOf, read } from './language-checks.ts';

/** A text as translation platforms exchange it ("structured JSON"). */
export interface ExchangedText {
  readonly string: string;
  readonly developer_comment: string;
  readonly character_limit?: number;
}
export type Exchanged = Readonly<Record<string, ExchangedText>>;
type Texts = Readonly<Record<string, string>>;

/** Between the area and the key in an exchanged name. */
const SEPARATOR = '/';

const areasIn = (language: Language) => AREAS.filter((area) => languagesOf(area).includes(language));

function commentOn(area: Area, key: string): string {
  if (area.name !== 'errors') return noteOf(area, key) ?? '';
  const error = Object.entries(catalogue).find(([name]) => key.startsWith(name));
  return error
    ? `The message of error ${error[1].ref}, answered with HTTP status ${error[1].status}. It says what to do.`
    : 'The message of an error. It says what to do.';
}

/** The texts of a language, or English where it has none. */
export function exchanged(language: Language, isMissingOnly = false): Exchanged {
  const texts = areasIn(language).flatMap((area) => {
    const english = read(area, 'en');
    const own = read(area, language);
    return Object.entries(english)
      .filter(([key]) => !isMissingOnly || !(key in own))
      .map(([key, source]): [string, ExchangedText] => {
        const max = labelMax(source);
        return [
          area.name + SEPARATOR + key,
          {
            string: own[key] ?? source,
            developer_comment: `${commentOn(area, key)} English: ${source}`.trim(),
            ...(max === undefined ? {} : { character_limit: max }),
          },
        ];
      });
  });
  return Object.fromEntries(texts);
}

interface Imported {
  /** By the name of the area, in the order of English. */
  readonly texts: ReadonlyMap<string, Texts>;
  readonly problems: readonly string[];
}

/** What a file of a translation platform makes of the texts of a language. */
export function imported(language: Language, file: Readonly<Record<string, unknown>>): Imported {
  const areas = areasIn(language);
  const names = new Set(
    areas.flatMap((area) => Object.keys(read(area, 'en')).map((key) => area.name + SEPARATOR + key)),
  );
  const unknown = Object.keys(file).filter((name) => !names.has(name));
  const texts = new Map(areas.map((area) => [area.name, mergedTexts(area, language, file)]));
  const changed = areas.filter((area) => Object.keys(file).some((name) => name.startsWith(area.name + SEPARATOR)));
  return {
    texts: new Map(changed.map(({ name }) => [name, texts.get(name)!])),
    problems: [
      ...unknown.map((name) => `${name} is no text`),
      ...changed.flatMap((area) => problemsOf(area, language, texts.get(area.name))),
    ],
  };
}

function mergedTexts(area: Area, language: Language, file: Readonly<Record<string, unknown>>): Texts {
  const own = read(area, language);
  const base = VARIANTS[language];
  const inherited: Texts = base ? read(area, base) : {};
  const entries = Object.keys(read(area, 'en')).flatMap((key): [string, string][] => {
    const sent = stringOf(file[area.name + SEPARATOR + key]);
    const text = sent ?? own[key];
    // A variant has only what differs.
    return text === undefined || text === inherited[key] ? [] : [[key, text]];
  });
  return Object.fromEntries(entries);
}

function stringOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('string' in value)) return undefined;
  return typeof value.string === 'string' ? value.string : undefined;
}

export function writeTexts(language: Language, texts: ReadonlyMap<string, Texts>): void {
  for (const area of AREAS) {
    const own = texts.get(area.name);
    if (own) writeFileSync(new URL(`${language}.json`, area.folder), `${JSON.stringify(own, null, 2)}\n`);
  }
}
