import type { TagGroup } from '../catalogue/tag-options/tag-options.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { seededRandom } from '../platform/runtime/random.ts';
import {
  FIRST_WORDS,
  FOREIGN_NAMES,
  LAST_WORDS,
  MIDDLE_WORDS,
  PAIRS,
  PLACE_BEGINNINGS,
  PLACE_ENDS,
  PLACE_MIDDLES,
  SENTENCES,
  TRANSLATED,
} from './mod-texts.ts';

export interface SampleMod {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly status: number;
  readonly visible: number;
  /** From 0 to 1: the position in the list of authors, and in the history of the game. */
  readonly author: number;
  readonly age: number;
  readonly maturity: number;
  readonly metadataBlob: string | null;
  readonly tags: readonly { readonly id: number; readonly name: string; readonly hidden: number }[];
  readonly pairs: readonly string[];
  readonly translation: { readonly language: Language; readonly name: string; readonly summary: string } | undefined;
  readonly counts: {
    readonly downloads_today: number;
    readonly downloads_total: number;
    readonly subscribers_total: number;
    readonly ratings_positive: number;
    readonly ratings_negative: number;
  };
}

const BLOCK_BYTES = 65_536;

/** A fast generator of numbers from 0 to 1, which repeats for the same seed. */
function numbersFrom(seed: string): () => number {
  const random = seededRandom(seed);
  let block = random.bytes(BLOCK_BYTES);
  let at = 0;
  return () => {
    if (at === BLOCK_BYTES) [block, at] = [random.bytes(BLOCK_BYTES), 0];
    at += 4;
    return block.readUInt32LE(at - 4) / 0x1_0000_0000;
  };
}

/** An endless sequence of mods for a game with these tags, which repeats for the same seed. */
export function* sampleMods(seed: string, groups: readonly TagGroup[]): Generator<SampleMod, never> {
  const next = numbersFrom(seed);
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)]!;
  /** Prefers the first entries. */
  const earlyOf = <T>(all: readonly T[]): T => all[Math.floor(next() * next() * all.length)]!;
  const isOne = (share: number) => next() < share;
  for (;;) yield sampleMod({ next, oneOf, earlyOf, isOne }, groups);
}

interface Chance {
  next(): number;
  oneOf<T>(all: readonly T[]): T;
  earlyOf<T>(all: readonly T[]): T;
  isOne(share: number): boolean;
}

function sampleMod(chance: Chance, groups: readonly TagGroup[]): SampleMod {
  const { next, oneOf, isOne } = chance;
  const name = nameBy(chance);
  const summary = oneOf(SENTENCES);
  const translated = isOne(0.1) ? oneOf(TRANSLATED) : undefined;
  return {
    name,
    summary,
    description: `<p>${oneOf(SENTENCES)} ${oneOf(SENTENCES)}</p><p><b>${name}</b>: ${oneOf(SENTENCES)}</p>`,
    status: isOne(0.97) ? 1 : isOne(0.6) ? 0 : 3,
    visible: isOne(0.98) ? 1 : 0,
    author: next() * next(),
    age: next(),
    maturity: isOne(0.08) ? 1 << Math.floor(next() * 4) : 0,
    metadataBlob: isOne(0.2) ? `{"build":${Math.floor(next() * 400)}}` : null,
    tags: tagsBy(chance, groups),
    pairs: isOne(0.3) ? [...new Set([oneOf(PAIRS), oneOf(PAIRS)])] : [],
    translation: translated && {
      language: translated.language,
      name: `${translated.prefix}${name}`.slice(0, 50),
      summary: translated.summary,
    },
    counts: countsBy(chance),
  };
}

function nameBy({ next, oneOf, earlyOf, isOne }: Chance): string {
  if (isOne(0.12)) {
    const { first, last, space } = oneOf(FOREIGN_NAMES);
    return `${oneOf(first)}${space}${oneOf(last)}${isOne(0.5) ? ` ${1 + Math.floor(next() * 999)}` : ''}`;
  }
  const words: string[] = [earlyOf(MIDDLE_WORDS), earlyOf(LAST_WORDS)];
  if (isOne(0.2)) words.unshift(`${oneOf(PLACE_BEGINNINGS)}${oneOf(PLACE_MIDDLES)}${oneOf(PLACE_ENDS)}`);
  else if (isOne(0.7)) words.unshift(earlyOf(FIRST_WORDS));
  if (isOne(0.25)) words.push(String(2 + Math.floor(next() * 98)));
  return words.join(' ');
}

function tagsBy({ next, earlyOf, isOne }: Chance, groups: readonly TagGroup[]): SampleMod['tags'] {
  const chosen = new Map<number, SampleMod['tags'][number]>();
  for (const { type, locked, hidden, tags } of groups) {
    if (tags.length === 0 || (locked === 1 && !isOne(0.01))) continue;
    const most = type === 'dropdown' ? 1 : 3;
    for (let count = Math.floor(next() * (most + 1)); count > 0; count -= 1) {
      const { id, name } = earlyOf(tags);
      chosen.set(id, { id, name, hidden });
    }
  }
  return [...chosen.values()].sort((a, b) => a.id - b.id);
}

/** A long tail: half of the mods are hardly used, and one in a thousand is used by everyone. */
function countsBy({ next, isOne }: Chance): SampleMod['counts'] {
  const downloads_total = Math.floor(2 ** (next() * next() * 22)) - 1;
  const subscribers_total = Math.floor(downloads_total * next() * 0.6);
  const ratings = Math.floor(downloads_total * next() * 0.05);
  const ratings_positive = Math.floor(ratings * (0.4 + next() * 0.6));
  const downloads_today = isOne(0.15) ? Math.floor(downloads_total * next() * 0.01) : 0;
  return {
    downloads_today,
    downloads_total,
    subscribers_total,
    ratings_positive,
    ratings_negative: ratings - ratings_positive,
  };
}
