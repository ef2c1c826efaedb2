import assert from 'node:assert/strict';

/** A hand-written table that needs one row per declared item. */
export interface HandTable {
  /** Its name and its file, such as "AUTHORISATION in test/authorisation.ts". */
  readonly name: string;
  readonly rows: readonly string[];
  /** The text of a new row. */
  row(name: string): string;
}

/** Fails with the rows to add and remove, and their file, unless the table has exactly the needed rows. */
export function assertRows({ name: table, rows, row }: HandTable, needed: readonly string[]): void {
  const missing = needed.filter((name) => !rows.includes(name));
  const left = rows.filter((name) => !needed.includes(name));
  const problems = [
    ...(missing.length > 0 ? [`Add to ${table}:`, ...missing.map((name) => `  ${row(name)}`)] : []),
    ...(left.length > 0 ? [`Remove from ${table}, because no operation needs it: ${left.join(', ')}`] : []),
  ];
  assert.ok(problems.length === 0, problems.join('\n'));
}

/** Fails with the advice and the list, unless the list is empty. */
export const assertNone = (list: readonly string[], advice: string): void =>
  assert.ok(list.length === 0, `${advice}\n${list.map((each) => `  ${each}`).join('\n')}`);
