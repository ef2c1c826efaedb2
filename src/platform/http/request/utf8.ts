import { isUtf8 } from 'node:buffer';
import type { FieldProblem } from '../../errors/catalogue.ts';

/** Stands for bytes that are not UTF-8: half a surrogate pair, which no UTF-8 can say. */
const ILL_FORMED = '\ud800';
const REPLACEMENT = '\ufffd';

/** Decodes UTF-8; what is not UTF-8 becomes `ILL_FORMED`. */
export function decodedUtf8(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : withIllFormed(bytes.toString());
}

/** For text that others have decoded, with a replacement character for what is not UTF-8. */
export const withIllFormed = (text: string): string => text.replaceAll(REPLACEMENT, ILL_FORMED);

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, held]) => name.isWellFormed() && isWellFormed(held));
};

/** The fields that are not UTF-8. */
export const illFormedFields = (fields: Readonly<Record<string, unknown>>): FieldProblem[] =>
  Object.entries(fields)
    .filter(([name, value]) => !name.isWellFormed() || !isWellFormed(value))
    .map(([name]) => ({ field: name.toWellFormed(), rule: 'utf8' }));
