/** A `like` pattern, split at `%`. */
export interface Pattern {
  readonly pieces: readonly string[];
}

/** Parses the output of `likePattern`: `\` escapes a character, and `_` is never a wildcard. */
export function patternOf(like: string): Pattern {
  const pieces: string[] = [];
  let piece = '';
  for (let at = 0; at < like.length; at += 1) {
    if (like[at] === '%') {
      pieces.push(piece);
      piece = '';
    } else piece += like[at] === '\\' ? like[++at] : like[at];
  }
  return { pieces: [...pieces, piece] };
}

/**
 * Matches in linear time. SQLite's own `like` restarts at every position, which takes seconds for long similar texts.
 */
export function fitsPattern(text: string, { pieces }: Pattern): boolean {
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  if (pieces.length === 1) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = indexOf(text, piece, from, end);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}

/** Finds a substring by Knuth-Morris-Pratt, because the language's own search can be quadratic. */
function indexOf(text: string, piece: string, from: number, end: number): number {
  const { length } = piece;
  if (length === 0) return from;
  const borders = bordersOf(piece);
  let matched = 0;
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && piece.charCodeAt(matched) !== code) matched = borders[matched - 1]!;
    if (piece.charCodeAt(matched) === code) matched += 1;
    if (matched === length) return at - length + 1;
  }
  return -1;
}

const known = new Map<string, Int32Array>();
const KNOWN_MAX = 100;

/** For each prefix, the length of its longest border. */
function bordersOf(piece: string): Int32Array {
  const there = known.get(piece);
  if (there) return there;
  const borders = new Int32Array(piece.length);
  for (let at = 1, matched = 0; at < piece.length; at += 1) {
    while (matched > 0 && piece[matched] !== piece[at]) matched = borders[matched - 1]!;
    if (piece[matched] === piece[at]) matched += 1;
    borders[at] = matched;
  }
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(piece, borders);
  return borders;
}
