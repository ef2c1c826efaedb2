type Json = unknown;

const WIDTH = 160;
/** Of a line that several short entries share. */
const SHARED_WIDTH = 200;
const INDENT = 2;
/** Lists under these keys are reviewed entry by entry, so each entry has its own line. */
const LISTS = new Set(['properties', 'parameters', 'responses']);
/** The first levels of an OpenAPI document are its parts, paths and kinds of components, which are always broken. */
const PARTS_DEPTH = 3;

/**
 * JSON for review: one line per field, parameter or response, however long, and several lines for everything that
 * contains these. References to shared parameters and responses share lines.
 */
export const readableJson = (value: Json): string => `${layout(value, 0, 0, '')}\n`;

function layout(value: Json, depth: number, indent: number, key: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const line = onOneLine(value);
  const fits = indent + key.length + line.length + '"": ,'.length <= WIDTH;
  if (Object.keys(value).length === 0 || (depth >= PARTS_DEPTH && (fits || isRow(value, key)))) return line;
  if (Array.isArray(value)) {
    const entries = value.map((each) => layout(each, depth + 1, indent + INDENT, ''));
    return broken('[', filled(entries, indent + INDENT), ']', indent);
  }
  const entries = Object.entries(value);
  const only = entries.length === 1 && depth >= PARTS_DEPTH - 1 && !LISTS.has(key) ? entries[0] : undefined;
  if (only) return `{ ${JSON.stringify(only[0])}: ${layout(only[1], depth + 1, indent, only[0])} }`;
  const lines = entries.map(
    ([name, each]) => `${JSON.stringify(name)}: ${layout(each, depth + 1, indent + INDENT, name)}`,
  );
  return broken('{', filled(lines, indent + INDENT), '}', indent);
}

function broken(open: string, entries: readonly string[], close: string, indent: number): string {
  const start = `\n${' '.repeat(indent + INDENT)}`;
  return `${open}${entries.map((entry) => start + entry).join(',')}\n${' '.repeat(indent)}${close}`;
}

/** Names, references and the facts of an operation are short, so as many as fit share a line. */
function filled(entries: readonly string[], indent: number): string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    const joined = `${last}, ${entry}`;
    const fits = indent + joined.length + ','.length <= SHARED_WIDTH;
    if (last && isShort(last) && isShort(entry) && fits) lines[lines.length - 1] = joined;
    else lines.push(entry);
  }
  return lines;
}

const FACTS = ['operationId', 'tags', 'security', 'x-power', 'x-credentials'];
const SHORT_ENTRY = new RegExp(String.raw`^(?:[^{:]*$|(?:"\d+": )?\{ "\$ref": |"(?:${FACTS.join('|')})": )`);

const isShort = (entry: string): boolean => SHORT_ENTRY.test(entry);

const isRow = (value: object, key: string): boolean => !LISTS.has(key) && !Array.isArray(value) && !holdsList(value);

const holdsList = (value: Json): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(([key, each]) => (LISTS.has(key) && Object.keys(each).length > 0) || holdsList(each));

function onOneLine(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  const entries = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${onOneLine(each)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
