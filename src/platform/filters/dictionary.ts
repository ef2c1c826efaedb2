import { readFileSync } from 'node:fs';
import { LANGUAGES, type Language } from '../localisation/languages.ts';
import innocent from './words/innocent.json' with { type: 'json' };

interface Words {
  readonly severe: readonly string[];
  readonly strong: readonly string[];
  readonly mild: readonly string[];
  /** Short words that occur in no harmless word. */
  readonly within?: readonly string[];
}

const wordsOf = (language: Language): Words =>
  JSON.parse(readFileSync(new URL(`./words/${language}.json`, import.meta.url), 'utf8'));

const dictionary = LANGUAGES.map(wordsOf);

/** The words that each level refuses. Level 1 has hateful words, level 2 adds strong ones, level 3 adds vulgar ones. */
export const wordsByLevel: Readonly<Record<1 | 2 | 3, readonly string[]>> = {
  1: dictionary.flatMap(({ severe }) => severe),
  2: dictionary.flatMap(({ severe, strong }) => [...severe, ...strong]),
  3: dictionary.flatMap(({ severe, strong, mild }) => [...severe, ...strong, ...mild]),
};

/** Harmless words that contain a refused one. */
export const innocentWords: readonly string[] = innocent;

/** Short words that are also refused inside other words, at levels that search there. */
export const refusedInsideWords: ReadonlySet<string> = new Set(dictionary.flatMap(({ within = [] }) => within));
