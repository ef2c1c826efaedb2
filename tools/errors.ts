import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { catalogue } from '../src/platform/errors/catalogue.ts';
import type { Reached } from '../test/reached.ts';
import { reachedErrors } from './reached-errors.ts';

const help = `npm run errors [-- options]

Counts the errors of the specification that the last whole test run received over HTTP. A test counts only if neither it
nor the setup of its file wrote to the database directly.

  --missing   list the errors that do not count, and why
  --how       list the test that reached each error
  --partial   read the results of single files since the last whole run
  --help      print this`;

const resultsFile = 'test-results/error-refs.json';
const partialFolder = 'test-results/refs';

/** Published errors that are not in the second part of the specification. */
const FURTHER = new Set([
  11_114, 11_115, 11_116, 11_117, 11_118, 11_119, 11_120, 11_121, 11_130, 11_131, 11_133, 11_134, 11_201, 11_202,
  11_203, 11_205, 15_090, 15_095, 17_053, 19_045, 40_004, 900_049, 900_051, 900_054, 900_055, 900_061, 900_064, 900_074,
  900_098,
]);

type Entry = { name: string; ref: number; status: number };

function main(): number {
  const options = { missing: {}, how: {}, partial: {}, help: {} } as const;
  const { values } = parseArgs({
    options: Object.fromEntries(Object.keys(options).map((name) => [name, { type: 'boolean' as const }])),
  });
  if (values['help']) {
    console.log(help);
    return 0;
  }
  if (!values['partial'] && !fs.existsSync(resultsFile)) {
    console.error(`${resultsFile} does not exist yet; a whole run of npm test writes it.`);
    return 1;
  }
  const all = values['partial']
    ? reachedErrors(partialFolder)
    : (JSON.parse(fs.readFileSync(resultsFile, 'utf8')) as Reached[]);
  const reached = new Map(all.map((each) => [each.ref, each]));
  const entries = Object.entries(catalogue)
    .map(([name, entry]): Entry => ({ name, ...entry }))
    .filter(({ ref }) => !FURTHER.has(ref));
  printCounts(entries, reached);
  if (values['missing']) printMissing(entries, reached);
  if (values['how']) printHow(entries, reached);
  printUnknown(all);
  return 0;
}

const counts = (reached: ReadonlyMap<number, Reached>, { ref }: Entry): boolean => reached.get(ref)?.wrote === false;

function printCounts(entries: Entry[], reached: ReadonlyMap<number, Reached>): void {
  const groups = Object.groupBy(entries, ({ ref }) => `${Math.floor(ref / 1000) * 1000}`);
  for (const [group, members = []] of Object.entries(groups))
    console.log(`${group.padStart(6)}  ${share(members, reached)}`);
  const written = entries.filter(({ ref }) => reached.get(ref)?.wrote).length;
  console.log(`${share(entries, reached)} errors of the specification are answered in tests that stay within the API;`);
  console.log(`${written} more only where a test writes to the database`);
}

const share = (entries: Entry[], reached: ReadonlyMap<number, Reached>): string =>
  `${entries.filter((entry) => counts(reached, entry)).length} of ${entries.length}`;

function printMissing(entries: Entry[], reached: ReadonlyMap<number, Reached>): void {
  for (const entry of entries.filter((each) => !counts(reached, each))) {
    const { ref, name, status } = entry;
    console.log(`${String(ref).padStart(6)}  ${status}  ${name}: ${whyMissing(ref, reached.get(ref))}`);
  }
}

function whyMissing(ref: number, reached: Reached | undefined): string {
  if (ref === 0) return 'no answer has it, as shipped clients take 0 for success';
  return reached ? `only by writing, in ${reached.test}` : 'not met';
}

function printHow(entries: Entry[], reached: ReadonlyMap<number, Reached>): void {
  for (const { ref, name } of entries) {
    const met = reached.get(ref);
    if (met)
      console.log(`${String(ref).padStart(6)}  ${met.wrote ? 'by writing' : 'by the API'}  ${name}: ${met.test}`);
  }
}

function printUnknown(all: readonly Reached[]): void {
  const known = new Set<number>(Object.values(catalogue).map(({ ref }) => ref));
  const unknown = all.map(({ ref }) => ref).filter((ref) => !known.has(ref));
  if (unknown.length > 0) console.log(`Answered, but not in the catalogue: ${unknown.join(', ')}`);
}

process.exitCode = main();
