import { readFileSync } from 'node:fs';
import { LANGUAGES, type Language } from '../localisation/languages.ts';
import innocent from './words/innocent.json' with { type: 'json' };

interface Words {
  readonly severe: readonly string[];
  readonly strong: readonly string[];
  readonly mild: readonly string[];
  /** Short, and yet in no innocent word. */
  readonly within?: readonly string[];
}

const wordsOf = (language: Language): Words =>
  JSON.parse(readFileSync(new URL(`./words/${language}.json`, import.meta.url), 'utf8'));

const dictionary = LANGUAGES.map(wordsOf);

/** What each level refuses: from words that are meant to hurt, over strong ones, to those that are merely coarse. */
export const refusedAt: Readonly<Record<1 | 2 | 3, readonly string[]>> = {
  1: dictionary.flatMap(({ severe }) => severe),
  2: dictionary.flatMap(({ severe, strong }) => [...severe, ...strong]),
  3: dictionary.flatMap(({ severe, strong, mild }) => [...severe, ...strong, ...mild]),
};

/** Words that have a refused one within them and mean no harm. */
export const innocentWords: readonly string[] = innocent;

/** Short words that are refused within others all the same, where the level looks there. */
export const refusedWithin: ReadonlySet<string> = new Set(dictionary.flatMap(({ within = [] }) => within));
