type Values = readonly unknown[];

interface Template {
  /** The text around its limits. */
  readonly pieces: readonly string[];
  /** The places of the limits among the values. */
  readonly places: readonly number[];
}

const TEMPLATES_KEPT = 500;
const templates = new Map<string, Template>();

/**
 * The same statement with its limits as numbers. SQLite uses the value of `limit ?` to plan, so it plans such a statement
 * again for each execution, which takes longer than most reads.
 */
export function withLiteralLimits(text: string, values: Values): readonly [string, Values] {
  if (!text.includes('limit ?')) return [text, values];
  const { pieces, places } = templateOf(text);
  if (!places.every((place) => Number.isSafeInteger(values[place]))) return [text, values];
  const literal = pieces.map((piece, index) => (index === 0 ? piece : `limit ${values[places[index - 1]!]}${piece}`));
  return [literal.join(''), values.filter((_, place) => !places.includes(place))];
}

function templateOf(text: string): Template {
  const known = templates.get(text);
  if (known) return known;
  const template = parse(text);
  if (templates.size >= TEMPLATES_KEPT) templates.delete(templates.keys().next().value!);
  templates.set(text, template);
  return template;
}

const QUOTED_OR_VALUE = /'[^']*'|"[^"]*"|\blimit \?|\?/g;

function parse(text: string): Template {
  const pieces: string[] = [];
  const places: number[] = [];
  let from = 0;
  let place = 0;
  for (const { 0: found, index } of text.matchAll(QUOTED_OR_VALUE)) {
    if (found.startsWith('limit')) {
      pieces.push(text.slice(from, index));
      places.push(place);
      from = index + found.length;
    }
    if (found.endsWith('?')) place += 1;
  }
  return { pieces: [...pieces, text.slice(from)], places };
}
