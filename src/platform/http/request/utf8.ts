import { isUtf8 } from 'node:buffer';
import type { FieldProblem } from '../../errors/catalogue.ts';

/** Marks bytes that are not UTF-8: a lone surrogate, which UTF-8 cannot encode. */
const ILL_FORMED = '\ud800';
const REPLACEMENT = '\ufffd';

/** Decodes UTF-8; what is not UTF-8 becomes `ILL_FORMED`. */
export function decodedUtf8(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : withIllFormed(bytes.toString());
}

/** For text that another parser decoded with replacement characters for invalid bytes. */
export const withIllFormed = (text: string): string => text.replaceAll(REPLACEMENT, ILL_FORMED);

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, held]) => name.isWellFormed() && isWellFormed(held));
};

/** Fields that are not valid UTF-8. */
export const illFormedFields = (fields: Readonly<Record<string, unknown>>): FieldProblem[] =>
  Object.entries(fields)
    .filter(([name, value]) => !name.isWellFormed() || !isWellFormed(value))
    .map(([name]) => ({ field: name.toWellFormed(), rule: 'utf8' }));
