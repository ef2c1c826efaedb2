import { ApiError } from '../../errors/catalogue.ts';
import {
  emptyFields,
  type Fields,
  type FieldValue,
  isFields,
  isPrototypeKey,
  storable,
  tooManyFields,
} from './forms.ts';

const depthMax = 32;
const valuesMax = 10_000;

/** Parses `input_json`, which must be a JSON object. */
export function parseInputJson(text: string): Fields {
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  requireBounded(json);
  const value = cleaned(parsed(json));
  if (!isFields(value)) throw new ApiError('JSON_MALFORMED');
  return value;
}

/** Parses a JSON body of fields. A shipped client sends them as a list of `{ Key, Value }` (docs/API-QUIRKS.md). */
export function parseJsonBody(text: string): Fields {
  if (!text.trimStart().startsWith('[')) return parseInputJson(text);
  const { pairs } = parseInputJson(`{"pairs":${text}}`);
  const fields = emptyFields();
  for (const pair of Array.isArray(pairs) ? pairs : []) {
    if (!isFields(pair) || typeof pair['Key'] !== 'string' || isPrototypeKey(pair['Key']))
      throw new ApiError('JSON_MALFORMED');
    fields[pair['Key']] = pair['Value'] ?? null;
  }
  return fields;
}

/** `input_json` overrides plain parameters of the same name. */
export function mergeInputJson(fields: Fields): Fields {
  const { input_json: json, ...plain } = fields;
  const merged: Fields = Object.assign(emptyFields(), plain);
  if (json === undefined) return merged;
  if (typeof json !== 'string') throw new ApiError('JSON_MALFORMED');
  Object.assign(merged, parseInputJson(json));
  delete merged['input_json'];
  return merged;
}

const [QUOTE, BACKSLASH, COMMA] = [...Buffer.from('"\\,')] as [number, number, number];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [...Buffer.from('{[}]')] as [number, number, number, number];

/**
 * Bounds depth and size on the text, so that later code may recurse. A regular expression would backtrack over an
 * unterminated string. It reads bytes, in which these characters are the same: reading the characters of a part of a longer
 * text takes five times as long.
 */
function requireBounded(json: string): void {
  const bytes = Buffer.from(json);
  let depth = 0;
  let values = 1;
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) quoted = !quoted;
    else if (quoted) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) {
      values += 1;
      if (values > valuesMax) throw tooManyFields('input_json', valuesMax);
    } else if (code === BRACE || code === BRACKET) {
      depth += 1;
      if (depth > depthMax) throw new ApiError('JSON_MALFORMED');
    } else if (code === BRACE_END || code === BRACKET_END) depth -= 1;
  }
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
    if (!isPrototypeKey(name)) fields[name] = cleaned(held);
  }
  return fields;
}
