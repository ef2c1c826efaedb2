/** Letters of other scripts that look like Latin ones and are used to evade filters. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑ',
    b: 'ЬьβƄ',
    c: 'сϲᴄ',
    d: 'ԁ',
    e: 'еεєҽ',
    g: 'ɡ',
    h: 'һнη',
    i: 'іιıɩ',
    j: 'ј',
    k: 'кκ',
    l: 'ӏ',
    m: 'м',
    n: 'п',
    o: 'оοσօø',
    p: 'рρ',
    s: 'ѕ',
    t: 'тτ',
    u: 'υս',
    v: 'ѵν',
    w: 'ѡωш',
    x: 'хχ',
    y: 'уүγ',
    z: 'ᴢ',
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

/** Digits and symbols that replace letters inside a word. */
export const LEET: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '0': 'o',
    '1': 'i',
    '3': 'e',
    '4': 'a',
    '5': 's',
    '7': 't',
    '8': 'b',
    '9': 'g',
    '@': 'a',
    $: 's',
    '!': 'i',
    '|': 'i',
    '€': 'e',
    '£': 'l',
  }),
);

const INVISIBLE = /\p{Cf}|\p{Variation_Selector}|[\u115F\u1160\u3164\u0640]|[\u064B-\u065F]|\u034F/gu;
const ACCENTED = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]\p{M}+/gu;
const TOKEN = /[\p{L}\p{M}\p{N}@$!|€£*]+/gu;
const LETTER = /\p{L}/u;

/** Folded, without invisible characters and accents. Scripts whose marks are vowels keep them. */
function plain(text: string): string {
  const folded = text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase();
  return folded
    .normalize('NFD')
    .replace(ACCENTED, ([base]) => base!)
    .normalize('NFC')
    .replaceAll('ß', 'ss');
}

const SIGNS_AT_END = /[!|]+$/;

function tokensOf(text: string): string[] {
  return (plain(text).match(TOKEN) ?? []).map((token) => {
    const bare = token.replace(SIGNS_AT_END, '');
    return BARE.test(bare) || !LETTER.test(bare) ? bare : bare.replace(OTHER, (letter) => LATIN.get(letter) ?? letter);
  });
}

const LATIN: ReadonlyMap<string, string> = new Map([...LEET, ...LOOKALIKES]);
const BARE = /^[a-z]+$/;
const OTHER = /[^a-z]/gu;

const SPELT_OUT_MIN = 3;

/** Joins single letters in a row into one word. */
function joined(tokens: readonly string[]): string[] {
  const words: string[] = [];
  let spelt: string[] = [];
  const end = () => {
    if (spelt.length >= SPELT_OUT_MIN) words.push(spelt.join(''));
    else words.push(...spelt);
    spelt = [];
  };
  for (const token of tokens) {
    if ([...token].length === 1) spelt.push(token);
    else {
      end();
      words.push(token);
    }
  }
  end();
  return words;
}

/** The words of a text in one spelling, whatever letters they were written with. */
export const skeletonOf = (text: string): string[] => joined(tokensOf(text)).filter((token) => token !== '');

const LONG_RUN = /(.)\1{2,}/gu;
const RUN = /(.)\1+/gu;

/** Repeated letters are reduced to two, to one, and to one for doubled letters only. Every result is checked. */
export const withFewerRepeats = (word: string): readonly string[] =>
  DOUBLED.test(word)
    ? [word, word.replace(LONG_RUN, '$1$1'), word.replace(LONG_RUN, '$1'), word.replace(RUN, '$1')]
    : [word];

const DOUBLED = /(.)\1/u;
export const hasDoubledLetter = (word: string): boolean => DOUBLED.test(word);
