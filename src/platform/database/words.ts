/** Characters that Unicode expands to up to 18. Private ones stand for them, so that a text cannot grow that much. */
const PHRASES = /[\ufdfa\ufdfb]/;
const FIRST_PHRASE = 0xfdfa;
const LAST_PHRASE = 0xfdfb;
const TO_PRIVATE_USE = 0xe0fa - FIRST_PHRASE;

/** Text folded for comparison by code point, which is the same on both databases. */
export function fold(text: string): string {
  const short = PHRASES.test(text) ? withoutPhrases(text) : text;
  return short.normalize('NFKC').toLowerCase().normalize('NFC');
}

/** In place, because `replace` takes four times the CPU time for a text that consists of them. */
function withoutPhrases(text: string): string {
  const bytes = Buffer.from(text, 'utf16le');
  const units = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at]!;
    if (unit === FIRST_PHRASE || unit === LAST_PHRASE) units[at] = unit + TO_PRIVATE_USE;
  }
  return bytes.toString('utf16le');
}

/** Scripts without spaces between words. The long vowel sign counts as kana, although Unicode lists it elsewhere. */
const UNSPACED = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}ー]`;
const WORD = new RegExp(String.raw`(${UNSPACED}+)|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}])+`, 'gu');
const WORD_LENGTH_MAX = 64;

/**
 * The distinct folded words of a name, as `_q` finds them. In scripts without spaces every two characters form a word,
 * and so does the last one alone.
 */
export const wordsOf = (name: string): string[] => distinct(name, (characters) => characters.map(withNext));

/** The distinct words of a search. */
export const queryWords = (text: string, most: number): string[] =>
  distinct(text, (characters) => characters.map(withNext).slice(0, Math.max(1, characters.length - 1))).slice(0, most);

const withNext = (character: string, index: number, all: readonly string[]) => character + (all[index + 1] ?? '');

function distinct(text: string, parted: (characters: readonly string[]) => readonly string[]): string[] {
  const words = new Set<string>();
  for (const [run, unspaced] of fold(text).matchAll(WORD))
    for (const word of unspaced ? parted([...run]) : [run.slice(0, WORD_LENGTH_MAX)]) words.add(word);
  return [...words];
}

const PAIRED_WORDS_MAX = 6;

/** Pairs of a name's words. The leading space keeps them out of every prefix range of words. */
export function pairsOf(words: readonly string[]): string[] {
  const few = words.slice(0, PAIRED_WORDS_MAX).sort();
  return few.flatMap((word, index) => few.slice(index + 1).map((other) => ` ${word} ${other}`));
}

/** The search terms of a name: its words and pairs of words. */
export const termsOf = (words: readonly string[]): string[] => [...words, ...pairsOf(words)];

/** Shorter words have too many neighbours at distance one. */
const TYPO_LETTERS_MIN = 4;
const TYPO_LETTERS_MAX = 32;

export function allowsTypo(word: string): boolean {
  const { length } = [...word];
  return length >= TYPO_LETTERS_MIN && length <= TYPO_LETTERS_MAX;
}

/** The word and all its variants with one letter removed. Two words at distance one share a variant. */
export function variantsOf(word: string): string[] {
  const letters = [...word];
  return [...new Set([word, ...letters.map((_, index) => letters.toSpliced(index, 1).join(''))])];
}

/** True when one insertion, deletion, substitution or transposition separates the words. */
export function isMistyped(typed: string, word: string): boolean {
  const [from, to] = [[...typed], [...word]];
  if (typed === word || !allowsTypo(word) || Math.abs(from.length - to.length) > 1) return false;
  let start = 0;
  while (start < from.length && from[start] === to[start]) start += 1;
  let end = 0;
  const shorter = Math.min(from.length, to.length);
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const [left, right] = [from.slice(start, from.length - end), to.slice(start, to.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
