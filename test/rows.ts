import assert from 'node:assert/strict';

/** A table by hand that has to have a row for each of what is derived from the declarations. */
export interface HandTable {
  /** Its name and its file, such as "AUTHORISATION in test/authorisation.ts". */
  readonly is: string;
  readonly rows: readonly string[];
  /** How the row of a new one is written. */
  row(name: string): string;
}

/** Fails with the rows to add and to remove, and where, unless the table has exactly those that are needed. */
export function assertRows({ is, rows, row }: HandTable, needed: readonly string[]): void {
  const missing = needed.filter((name) => !rows.includes(name));
  const left = rows.filter((name) => !needed.includes(name));
  const says = [
    ...(missing.length > 0 ? [`Add to ${is}:`, ...missing.map((name) => `  ${row(name)}`)] : []),
    ...(left.length > 0 ? [`Remove from ${is}, since nothing needs it any more: ${left.join(', ')}`] : []),
  ];
  assert.ok(says.length === 0, says.join('\n'));
}

/** Fails with the list, below a sentence that says what to do about it, unless it is empty. */
export const assertNone = (list: readonly string[], advice: string): void =>
  assert.ok(list.length === 0, `${advice}\n${list.map((each) => `  ${each}`).join('\n')}`);
