import type { Report } from '../moving/importing/run.ts';
import { columns } from './invocation/command.ts';

const ROWS_PER_LINE = 5_000;

/** Prints the progress at the beginning of each kind and every few thousand rows, because this can take minutes. */
export function printProgress(): (part: string, rows: number) => void {
  let printed = 0;
  let last: string | undefined;
  return (part, rows) => {
    const [kind] = part.split('.');
    if (kind === last && rows >= printed && rows - printed < ROWS_PER_LINE) return;
    process.stderr.write(`${rows} rows, ${part}\n`);
    printed = rows;
    last = kind;
  };
}

/** What a command that imports prints. */
export function printedReport(report: Report, { seconds, isDryRun }: { seconds: number; isDryRun: boolean }) {
  const { taken, refused, refusals, intoEmpty, removed, removals } = report;
  const lines = refusals.map(({ part, line, reason }): [string, string] => [
    line === 0 ? part : `${part}:${line}`,
    reason,
  ]);
  const text = [
    columns([
      [
        isDryRun ? 'Would take' : 'Took',
        intoEmpty ? 'with all ids, into an empty service' : 'with new ids for taken ones',
      ],
      ...Object.entries(taken).map(([kind, rows]): [string, string] => [kind, String(rows)]),
      ...Object.entries(removed).map(([kind, rows]): [string, string] => [
        isDryRun ? 'Would remove' : 'Removed',
        `${rows} ${kind}`,
      ]),
      ...removals.map(({ resource, old_id, change, name }): [string, string] => [
        `${resource} ${old_id}`,
        `${change}${name && `: ${name}`}`,
      ]),
      ['Refused', String(refused)],
      ...lines,
    ]),
  ];
  return {
    object: { taken, refused, refusals, removed, removals, into_empty: intoEmpty, seconds, dry_run: isDryRun },
    text: text.join('\n'),
  };
}
