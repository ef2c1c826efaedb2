import { ApiError } from '../../errors/catalogue.ts';
import { decodedUtf8, withIllFormed } from './utf8.ts';

export type FieldValue = string | number | boolean | null | FieldValue[] | Fields;
export type Fields = { [name: string]: FieldValue };

/** A form being parsed: brackets become branches, and indexes only order them. */
export type FormTree = { root: Branch; pairs: number };
type Branch = { children: Map<string, Branch | string>; next: number };

export const pairsMax = 1_000;
/** Includes empty pairs and fragments of values. */
const piecesMax = 10_000;
const depthMax = 5;
const nameShape = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;
const indexShape = /^\d{1,9}$/;
const prototypeKeys = new Set(['__proto__', 'constructor', 'prototype']);

export const isPrototypeKey = (name: string): boolean => prototypeKeys.has(name);
export const emptyFields = (): Fields => Object.create(null);
export const isFields = (value: FieldValue | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a query string or URL-encoded body; never throws. */
export function parseForm(text: string): Fields {
  return PLAIN.test(text) ? plainFields(text) : treeFields(text);
}

/** The same for a submitted body, where too many fields are an error instead of being dropped. */
export function parseBodyForm(text: string): Fields {
  let pieces = 0;
  let pairs = 0;
  for (let start = 0, end: number; start < text.length; start = end + 1, pieces += 1) {
    end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const isText = end === start || (pairs > 0 && text[start] === ' ');
    if (!isText) pairs += 1;
    if (pairs > pairsMax || pieces > piecesMax) throw tooManyFields('body', pairsMax);
  }
  return parseForm(text);
}

export const tooManyFields = (field: string, max: number): ApiError =>
  new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'fields_max', values: { max } }] });

const QUERIES_KEPT = 1_000;
const KEPT_LENGTH_MAX = 500;
const queries = new Map<string, Fields>();

/** The same for a query, cached because the same queries recur; the result must not be modified. */
export function parseQuery(text: string): Readonly<Fields> {
  const known = queries.get(text);
  if (known) return known;
  const fields = parseForm(text);
  if (text.length > KEPT_LENGTH_MAX || !PLAIN.test(text)) return fields;
  if (queries.size >= QUERIES_KEPT) queries.clear();
  queries.set(text, Object.freeze(fields));
  return fields;
}

/** Names and values without escapes, nesting or indexes. */
const PLAIN = /^[a-z_][\w-]*=[\w.,:*-]*(?:&[a-z_][\w-]*=[\w.,:*-]*)*$/i;

function plainFields(text: string): Fields {
  const fields = emptyFields();
  let pairs = 0;
  for (let start = 0, end: number; start < text.length && pairs < pairsMax; start = end + 1, pairs += 1) {
    end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const equals = text.indexOf('=', start);
    const name = text.slice(start, equals);
    if (!isPrototypeKey(name)) fields[name] = text.slice(equals + 1, end);
  }
  return fields;
}

function treeFields(text: string): Fields {
  const tree = newFormTree();
  for (const pair of pairsOf(text)) {
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    assign(tree, decode(name), equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return toFields(tree);
}

export const newFormTree = (): FormTree => ({ root: newBranch(), pairs: 0 });

/** Stores a value by its name (`a`, `a[]`, `a[0]`, `a[b][c]`); invalid names are dropped. */
export function assign(tree: FormTree, name: string, value: string): void {
  const path = pathOf(name);
  if (tree.pairs >= pairsMax || !path) return;
  tree.pairs += 1;
  let branch = tree.root;
  for (const step of path.slice(0, -1)) branch = branchAt(branch, step);
  branch.children.set(keyIn(branch, path.at(-1)!), storable(value));
}

/** Removes NUL, which PostgreSQL cannot store. Ill-formed text is rejected later, by its field (`utf8.ts`). */
export const storable = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '') : text);

export function toFields(tree: FormTree): Fields {
  return recordOf(tree.root);
}

const newBranch = (): Branch => ({ children: new Map(), next: 0 });

/**
 * The C++ SDK sends some bodies unencoded (`summary=does not work & crashes&type=2`), so a piece without `=` that
 * starts with a space continues the previous value.
 */
function* pairsOf(text: string): Generator<string> {
  let held: string | undefined;
  let pairs = 0;
  let pieces = 0;
  for (let start = 0, end: number; start <= text.length && pairs < pairsMax; start = end + 1) {
    pieces += 1;
    if (pieces > piecesMax) break;
    end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    const piece = text.slice(start, end);
    if (held !== undefined && piece.startsWith(' ') && !piece.includes('=')) {
      held += `&${piece}`;
    } else if (piece !== '') {
      if (held !== undefined) yield held;
      held = piece;
      pairs += 1;
    }
  }
  if (held !== undefined) yield held;
}

const [PERCENT, PLUS, SPACE] = [...Buffer.from('%+ ')] as [number, number, number];
/** Hex value by character code; negative for other characters. */
const HEX = new Int8Array(256).fill(-1);
for (const [value, digits] of [...'0123456789abcdef'].entries())
  for (const digit of [digits, digits.toUpperCase()]) HEX[digit.charCodeAt(0)] = value;

/** Negative if either is not a hex digit. */
const byteOf = (high: number, low: number): number =>
  HEX[high]! < 0 || HEX[low]! < 0 ? -1 : HEX[high]! * 16 + HEX[low]!;

/** Decodes byte by byte, because decodeURIComponent throws on `100%` and on bytes that are not UTF-8. */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1, length += 1) {
    const byte = bytes[at]!;
    const meant = byte === PERCENT && at + 2 < bytes.length ? byteOf(bytes[at + 1]!, bytes[at + 2]!) : -1;
    if (meant >= 0) at += 2;
    bytes[length] = meant >= 0 ? meant : byte === PLUS ? SPACE : byte;
  }
  const decoded = decodedUtf8(bytes.subarray(0, length));
  // Converting to bytes turned ill-formed characters into replacement characters.
  return text.isWellFormed() ? decoded : withIllFormed(decoded);
}

function pathOf(name: string): string[] | undefined {
  const found = nameShape.exec(name);
  const path = found ? [found[1]!, ...stepsOf(found[2]!)] : [name];
  return name === '' || path.length > depthMax || path.some(isPrototypeKey) ? undefined : path;
}

const stepsOf = (brackets: string): string[] => (brackets === '' ? [] : brackets.slice(1, -1).split(']['));

function branchAt(parent: Branch, step: string): Branch {
  const key = keyIn(parent, step);
  const held = parent.children.get(key);
  if (held && typeof held !== 'string') return held;
  const branch = newBranch();
  parent.children.set(key, branch);
  return branch;
}

/** `[]` takes the next index after the largest so far, as in PHP, where this syntax comes from. */
function keyIn(branch: Branch, step: string): string {
  if (step !== '' && !indexShape.test(step)) return step;
  const index = step === '' ? branch.next : Number(step);
  branch.next = Math.max(branch.next, index + 1);
  return String(index);
}

function fieldValueOf(node: Branch | string): FieldValue {
  if (typeof node === 'string') return node;
  return [...node.children.keys()].every((key) => indexShape.test(key)) ? listOf(node) : recordOf(node);
}

/** Clients send `tags[]=` for an empty list. */
function listOf(branch: Branch): FieldValue[] {
  const ordered = [...branch.children].sort(([one], [other]) => Number(one) - Number(other));
  return ordered.length === 1 && ordered[0]![1] === '' ? [] : ordered.map(([, node]) => fieldValueOf(node));
}

function recordOf(branch: Branch): Fields {
  const fields = emptyFields();
  for (const [name, node] of branch.children) fields[name] = fieldValueOf(node);
  return fields;
}
