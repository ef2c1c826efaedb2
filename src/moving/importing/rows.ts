import { fold } from '../../platform/database/words.ts';
import type { Moved } from '../../platform/manifest/treatment.ts';
import { sanitised } from '../../platform/text/markup.ts';
import type { Column, Table } from '../tables/schema.ts';
import { DEFAULTS, type Given } from './defaults.ts';

export type Row = Record<string, string | number | null>;

/** A line that cannot be taken, and why. */
export class RowProblem extends Error {
  override readonly name = 'RowProblem';
}

/** Fields of lines that are not columns: files of the archive that an import stores. */
export const FILE_FIELDS = ['file', 'logo_file', 'icon_file', 'header_file', 'avatar_file'];

/** The row of a line: checked, sanitised, and with the defaults of what the line omits. */
export function rowOf(table: Table, treatment: Moved, given: Given, now: number): Row {
  for (const name of Object.keys(given))
    if (!table.columns.some((column) => column.name === name) && !FILE_FIELDS.includes(name))
      throw new RowProblem(`"${name.slice(0, 60)}" is not a field of ${table.name}`);
  const defaults = DEFAULTS[table.name]?.(given, now) ?? {};
  const row: Row = {};
  for (const column of table.columns) {
    const value = given[column.name] ?? defaults[column.name] ?? column.value;
    row[column.name] = value === undefined || value === null ? null : checked(column, value);
  }
  for (const name of treatment.markup ?? []) if (row[name]) row[name] = sanitised(String(row[name]));
  for (const { name } of table.columns) {
    const source = name.endsWith('_folded') ? name.slice(0, -'_folded'.length) : undefined;
    // A folded copy that differed from its text would hide the text from filters.
    if (source !== undefined && source in row && given[name] === undefined) row[name] = fold(String(row[source] ?? ''));
  }
  for (const { name, isNullable } of table.columns)
    if (row[name] === null && !isNullable && name !== 'id') throw new RowProblem(`"${name}" is missing`);
  return row;
}

const DIGITS_MAX = 9_007_199_254_740_991;

function checked({ name, type }: Column, value: unknown): string | number {
  if (type === 'text') {
    if (typeof value !== 'string') throw new RowProblem(`"${name}" must be a text`);
    if (value.includes('\0')) throw new RowProblem(`"${name}" contains a zero character`);
    return value;
  }
  const number = typeof value === 'boolean' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new RowProblem(`"${name}" must be a number`);
  if (type === 'integer' && (!Number.isInteger(number) || Math.abs(number) > DIGITS_MAX))
    throw new RowProblem(`"${name}" must be a whole number`);
  return number;
}
