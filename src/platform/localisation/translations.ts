import { existsSync, readFileSync } from 'node:fs';
import type { Language } from './languages.ts';

/** The texts of one language. A translation may lack some of them. */
type Texts<Key extends string> = Partial<Record<Key, string>>;

/** Languages that have a file for what differs from another language only. */
export const VARIANTS: Partial<Record<Language, Language>> = { 'es-419': 'es' };

/** The texts of a folder with one file per language. A language is loaded when it is first asked for. */
export class TextFolder<Key extends string> {
  readonly #folder: URL;
  readonly #english: Readonly<Record<Key, string>>;
  readonly #loaded = new Map<Language, Texts<Key>>();

  constructor(folder: URL, english: Readonly<Record<Key, string>>) {
    this.#folder = folder;
    this.#english = english;
  }

  /** The text in the language, or in English if there is no translation. */
  text(key: Key, language: Language): string {
    return this.#textsOf(language)[key] ?? this.#english[key];
  }

  #textsOf(language: Language): Texts<Key> {
    if (language === 'en') return this.#english;
    const known = this.#loaded.get(language);
    if (known) return known;
    const base = VARIANTS[language];
    const texts = { ...(base && this.#read(base)), ...this.#read(language) };
    this.#loaded.set(language, texts);
    return texts;
  }

  #read(language: Language): Texts<Key> {
    const file = new URL(`${language}.json`, this.#folder);
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  }
}
