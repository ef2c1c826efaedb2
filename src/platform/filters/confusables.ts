import lookalikes from './confusables.json' with { type: 'json' };
import { LEET } from './skeleton.ts';

/** Letters and digits of other scripts and the Latin text that they resemble (Unicode confusables, UTS 39). */
const LATIN: ReadonlyMap<string, string> = new Map(
  Object.entries(lookalikes).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

/** Digits and symbols that replace letters. `i`, `l`, `1` and `|` look alike in many fonts. */
const LETTERS: ReadonlyMap<string, string> = new Map([...LEET, ['1', 'l'], ['!', 'l'], ['|', 'l'], ['i', 'l']]);

const INVISIBLE = /\p{Cf}|\p{Cc}|\p{Variation_Selector}|[\u115F\u1160\u3164]|\u034F/gu;
const ACCENTED = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])\p{M}+/gu;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/gu;
/** Symbols that replace letters in a word do not separate words. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}@$!|€£]+/u;
const SIGNS_AROUND = /^[!|]+|[!|]+$/g;
/** `SkyAdmin` is two words; `ADMIN` is one. */
const CASE_CHANGE = /(\p{Ll})(\p{Lu})/gu;

const visible = (text: string): string =>
  text.normalize('NFKC').replace(INVISIBLE, '').normalize('NFD').replace(ACCENTED, '$1').normalize('NFC');

const mapped = (text: string, map: ReadonlyMap<string, string>): string =>
  Array.from(text, (character) => map.get(character) ?? character).join('');

/** Capitals are mapped before they are folded: `Ν` (Greek) resembles `N`, while `ν` resembles `v`. */
function latinOf(shown: string): string {
  const letters = mapped(mapped(mapped(shown, LATIN).toLowerCase(), LATIN), LETTERS);
  return letters.replaceAll('ß', 'ss').replaceAll('rn', 'm').replaceAll('vv', 'w');
}

/**
 * A text reduced to its appearance, for comparison: without spaces, punctuation, case, accents and invisible
 * characters, with look-alikes of other scripts and digits as Latin letters.
 */
export const confusableSkeleton = (text: string): string => latinOf(visible(text)).replace(SEPARATORS, '');

/** The skeleton of the text, and that of its lower case if that looks different. */
export const confusableSkeletons = (text: string): readonly string[] => [
  ...new Set([confusableSkeleton(text), confusableSkeleton(text.toLowerCase())]),
];

/** True if a reader could confuse the texts. Texts without letters and digits resemble nothing. */
export function areConfusable(one: string, other: string): boolean {
  const others = confusableSkeletons(other);
  return confusableSkeletons(one).some((skeleton) => skeleton !== '' && others.includes(skeleton));
}

const plain = (text: string): string => text.normalize('NFC').toLowerCase().replace(SEPARATORS, '');

/** True if both have the same letters, in any case and spacing, so that they do not merely look alike. */
export const haveSameLetters = (one: string, other: string): boolean => plain(one) === plain(other);

/** The skeletons of the words of a text. Single letters in a row form one word: `a d m i n`. */
export function confusableWords(text: string): readonly string[] {
  const parts = visible(text).replace(CASE_CHANGE, '$1 $2').split(BETWEEN_WORDS);
  const words: string[] = [];
  let spelt = '';
  for (const part of [...parts, '']) {
    const skeleton = latinOf(part.replace(SIGNS_AROUND, '')).replace(SEPARATORS, '');
    if ([...part].length === 1) spelt += skeleton;
    else {
      words.push(spelt, skeleton);
      spelt = '';
    }
  }
  return words.filter((word) => word !== '');
}

/** The skeletons of all runs of words of a text: `Sky Port Login` contains that of `Skyport`. */
export function confusableRuns(words: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const start of words.keys())
    for (let end = start + 1; end <= words.length; end += 1) runs.add(words.slice(start, end).join(''));
  return runs;
}

/** The words without their first run that resembles the other text. */
export function withoutRun(words: readonly string[], other: string): readonly string[] {
  const skeletons = confusableSkeletons(other);
  for (const start of words.keys())
    for (let end = words.length; end > start; end -= 1)
      if (skeletons.includes(words.slice(start, end).join(''))) return [...words.slice(0, start), ...words.slice(end)];
  return words;
}
