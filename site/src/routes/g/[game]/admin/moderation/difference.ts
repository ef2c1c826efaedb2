export interface Part {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Longer differences are shown as a whole, because a comparison takes time with the square of their length. */
const WORDS_MAX = 600;

/** The words that two texts share, and those that only one has. */
export function differenceOf(before: string, after: string): Part[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const head = old.slice(0, start);
  const tail = end === 0 ? [] : old.slice(-end);
  const removed = old.slice(start, old.length - end);
  const added = now.slice(start, now.length - end);
  const middle =
    removed.length * added.length <= WORDS_MAX ** 2
      ? compared(removed, added)
      : ([
          ['removed', removed.join('')],
          ['added', added.join('')],
        ] as const);
  return joined([['same', head.join('')], ...middle, ['same', tail.join('')]]);
}

const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

type Piece = readonly [Part['kind'], string];

/** The longest common subsequence. */
function compared(old: readonly string[], now: readonly string[]): Piece[] {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === now[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      pieces.push(['same', old[i]!]);
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)) {
      pieces.push(['removed', old[i]!]);
      i += 1;
    } else {
      pieces.push(['added', now[j]!]);
      j += 1;
    }
  }
  return pieces;
}

function joined(pieces: readonly Piece[]): Part[] {
  const parts: { kind: Part['kind']; text: string }[] = [];
  for (const [kind, text] of pieces) {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== '') parts.push({ kind, text });
  }
  return parts;
}

/** Markup as text: one line per block. */
export const textOf = (markup: string): string =>
  markup
    .replace(/<\/(?:p|div|li|h[1-6]|tr|blockquote)>|<br\s*\/?>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .trim();
