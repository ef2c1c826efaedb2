import { ApiError } from '../../errors/catalogue.ts';
import { emptyFields, type Fields, type FieldValue, isFields, isPoisonous, storable } from './forms.ts';

const depthMax = 32;

/** Reads the one JSON object that `input_json` holds; anything else is JSON_MALFORMED. */
export function parseInputJson(text: string): Fields {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (isDeeperThan(json, depthMax)) throw new ApiError('JSON_MALFORMED');
  const value = cleaned(parsed(json));
  if (!isFields(value)) throw new ApiError('JSON_MALFORMED');
  return value;
}

/** A body of fields. A shipped client sends them as a list of `{ Key, Value }` (docs/API-QUIRKS.md). */
export function parseJsonBody(text: string): Fields {
  if (!text.trimStart().startsWith('[')) return parseInputJson(text);
  const { pairs } = parseInputJson(`{"pairs":${text}}`);
  const fields = emptyFields();
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    if (!isFields(pair) || typeof pair['Key'] !== 'string' || isPoisonous(pair['Key']))
      throw new ApiError('JSON_MALFORMED');
    fields[pair['Key']] = pair['Value'] ?? null;
  }
  return fields;
}

/** The published rule: a key that is in `input_json` and also a plain parameter has the value of `input_json`. */
export function mergeInputJson(fields: Fields): Fields {
  const { input_json: json, ...plain } = fields;
  const merged: Fields = Object.assign(emptyFields(), plain);
  if (json === undefined) return merged;
  if (typeof json !== 'string') throw new ApiError('JSON_MALFORMED');
  Object.assign(merged, parseInputJson(json));
  delete merged['input_json'];
  return merged;
}

/** Counted on the text, so that everything after it may recurse; a pattern would backtrack over an open string. */
function isDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length && depth <= limit; at += 1) {
    const character = json[at];
    if (character === '"') quoted = !quoted;
    else if (quoted) at += character === '\\' ? 1 : 0;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  }
  return depth > limit;
}

function parsed(json: string): FieldValue {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new ApiError('JSON_MALFORMED', { cause });
  }
}

function cleaned(value: FieldValue): FieldValue {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(cleaned);
  return isFields(value) ? cleanedFields(value) : value;
}

function cleanedFields(value: Fields): Fields {
  const fields = emptyFields();
  for (const [name, held] of Object.entries(value)) {
    if (!isPoisonous(name)) fields[name] = cleaned(held);
  }
  return fields;
}
