import { hash } from 'node:crypto';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Automaton } from './automaton.ts';
import { innocentWords, refusedInsideWords, wordsByLevel } from './dictionary.ts';
import { hasDoubledLetter, skeletonOf, withFewerRepeats } from './skeleton.ts';

/** A game's `profanity_option`. */
export const FILTER_LEVELS = { off: 0, basic: 1, moderate: 2, strict: 3 } as const;
export type FilterLevel = (typeof FILTER_LEVELS)[keyof typeof FILTER_LEVELS];

/** The words that a game adds to its level, and those that it allows. */
export interface GameWords {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

export interface TextFilter {
  /** The entry of the word lists that the text contains, if any. */
  refused(text: string): string | undefined;
  /** Checks a long text ahead of `refused`, and yields to the event loop between its sections. */
  prepare(text: string): Promise<void>;
}

/** The part of a word that the refused word must cover. */
type Reach = 'word' | 'inflected' | 'anywhere';

interface Entry {
  /** The word as in the list. */
  readonly said: string;
  readonly pattern: string;
  readonly reach: Reach;
}

/** Scripts that put no space between words, or that attach endings to them. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]/u;
const ENDINGS = new Set(['s', 'es', 'z', 'ed', 'er', 'ers', 'ing', 'in', 'ty', 'head', 'heads', 'face']);
/** Shorter words have no inflections, and are not matched behind asterisks. */
const LETTERS_MIN = 4;
/** Shorter words occur inside too many words of other languages. */
const WITHIN_LETTERS_MIN = 6;

function reachAt(level: FilterLevel, word: string): Reach {
  if (UNSPACED.test(word)) return 'anywhere';
  const isLookedForWithin = word.length >= WITHIN_LETTERS_MIN || refusedInsideWords.has(word);
  if (level === FILTER_LEVELS.strict && isLookedForWithin) return 'anywhere';
  return level >= FILTER_LEVELS.moderate && word.length >= LETTERS_MIN ? 'inflected' : 'word';
}

/** `1` and `|` may stand for either letter. */
const spellings = (word: string): string[] => [
  ...new Set([word, word.replaceAll('l', 'i'), word.replaceAll('i', 'l')]),
];

const PATTERN = { word: (text: string) => ` ${text} `, inflected: (text: string) => ` ${text}`, anywhere: String };

function entriesOf(level: FilterLevel, words: readonly string[], allowed: ReadonlySet<string>): Entry[] {
  return words.flatMap((said) => {
    const word = skeletonOf(said).join(' ');
    if (word === '' || allowed.has(word)) return [];
    const reach = reachAt(level, word);
    return spellings(word).map((spelling) => ({ said, pattern: PATTERN[reach](spelling), reach }));
  });
}

/** The original spelling, and three with fewer repeated letters. */
const SPELLINGS_MAX = 4;

const INNOCENT = new Set(innocentWords.map((word) => skeletonOf(word).join(' ')));

/** The filter visits every character a fixed number of times, however many words it has. */
export function createFilter(level: FilterLevel, { allowed, denied }: GameWords): TextFilter {
  const own = new Set(allowed.map((word) => skeletonOf(word).join(' ')));
  const listed = level === FILTER_LEVELS.off ? [] : wordsByLevel[level];
  const entries = [...entriesOf(level, denied, own), ...entriesOf(level, listed, own)];
  const automaton = new Automaton(entries.map(({ pattern }) => pattern));
  const deniedWords = new Set(denied.map((word) => skeletonOf(word).join(' ')));
  const masked = maskedWords(entries);

  const isHarmless = (word: string) => own.has(word) || (INNOCENT.has(word) && !deniedWords.has(word));

  function search(words: readonly string[], isReduced: boolean): Entry | undefined {
    const text = ` ${words.join(' ')} `;
    const found = automaton.first(text, (number, end) => {
      const { pattern, reach } = entries[number]!;
      // A doubled letter belongs to the word, so a word without it is a different one.
      if (isReduced && (pattern.trim().length < LETTERS_MIN || hasDoubledLetter(pattern))) return false;
      return reach !== 'inflected' || isInflection(text, end);
    });
    return found === undefined ? undefined : entries[found];
  }

  function refusedInSection(text: string): string | undefined {
    if (entries.length === 0) return undefined;
    const words = skeletonOf(text).filter((word) => !isHarmless(word));
    const ways = words.map(withFewerRepeats);
    const most = ways.some(({ length }) => length > 1) ? SPELLINGS_MAX : 1;
    for (let way = 0; way < most; way += 1) {
      const spelt = ways.map((each) => each[way] ?? each[0]!);
      const entry = search(spelt, way === SPELLINGS_MAX - 1);
      if (entry) return entry.said;
    }
    return words
      .filter((word) => word.includes('*'))
      .map(masked)
      .find((said) => said !== undefined);
  }
  return inSections(refusedInSection);
}

/** One character can stand for 18, so that 50,000 of them took half a second in one go. */
const SECTION_CHARACTERS = 2_000;
/** More than the longest word, with a separator after each of its letters. */
const OVERLAP_CHARACTERS = 300;
const GAP_CHARACTERS_MAX = 500;

/** The end of the last word before this position, or the position itself where no word ends near it. */
function wordEndBefore(text: string, position: number): number {
  const near = text.slice(position - GAP_CHARACTERS_MAX, position).search(/\s\S*$/);
  return near === -1 ? position : position - GAP_CHARACTERS_MAX + near;
}

function* sectionsOf(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > SECTION_CHARACTERS) {
    const end = wordEndBefore(text, start + SECTION_CHARACTERS);
    yield text.slice(start, end);
    start = wordEndBefore(text, end - OVERLAP_CHARACTERS);
  }
  yield text.slice(start);
}

const PREPARED_MAX = 1_000;

function inSections(refusedIn: (section: string) => string | undefined): TextFilter {
  const prepared = new LRUCache<string, { said: string | undefined }>({ max: PREPARED_MAX });
  const isLong = (text: string) => text.length > SECTION_CHARACTERS;
  const digestOf = (text: string) => hash('sha1', text, 'base64');
  const firstRefused = (text: string) => {
    for (const section of sectionsOf(text)) {
      const said = refusedIn(section);
      if (said !== undefined) return said;
    }
    return undefined;
  };
  return {
    refused(text) {
      const known = isLong(text) ? prepared.get(digestOf(text)) : undefined;
      return known ? known.said : firstRefused(text);
    },
    async prepare(text) {
      if (!isLong(text) || prepared.has(digestOf(text))) return;
      let said: string | undefined;
      for (const section of sectionsOf(text)) {
        said ??= refusedIn(section);
        await nextIteration();
      }
      prepared.set(digestOf(text), { said });
    },
  };
}

function isInflection(text: string, end: number): boolean {
  const stop = text.indexOf(' ', end);
  const rest = text.slice(end, stop);
  return rest === '' || ENDINGS.has(rest);
}

const HIDDEN_MAX = 3;

/** Finds words with asterisks for some of their letters, such as `f*ck`, by their length. */
function maskedWords(entries: readonly Entry[]): (word: string) => string | undefined {
  const byLength = Map.groupBy(
    entries.filter(({ pattern }) => !pattern.trim().includes(' ') && pattern.trim().length >= LETTERS_MIN),
    ({ pattern }) => pattern.trim().length,
  );
  return (word) => {
    const hidden = word.split('*').length - 1;
    const isMasked = hidden > 0 && hidden <= HIDDEN_MAX && hidden * 2 <= word.length && word[0] !== '*';
    if (!isMasked) return undefined;
    const fits = ({ pattern }: Entry) =>
      [...pattern.trim()].every((letter, at) => word[at] === '*' || word[at] === letter);
    return byLength.get(word.length)?.find(fits)?.said;
  };
}
