import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { catalogue } from '../src/errors/catalogue.ts';

const help = `npm run errors [-- --missing]

Prints how many errors of the catalogue the last whole test run has met in answers over HTTP.

  --missing   list the errors that no test has met
  --help      print this`;

const resultsFile = 'test-results/error-refs.json';

type Entry = { name: string; ref: number; status: number };

function main(): number {
  const { values } = parseArgs({ options: { missing: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (!fs.existsSync(resultsFile)) {
    console.error(`${resultsFile} is not there yet; a whole run of npm test writes it.`);
    return 1;
  }
  const { answered } = JSON.parse(fs.readFileSync(resultsFile, 'utf8')) as { answered: number[] };
  const entries = Object.entries(catalogue).map(([name, entry]): Entry => ({ name, ...entry }));
  printCounts(entries, new Set(answered));
  if (values.missing) printMissing(entries, new Set(answered));
  printUnknown(entries, answered);
  return 0;
}

function printCounts(entries: Entry[], answered: Set<number>): void {
  const groups = Object.groupBy(entries, ({ ref }) => `${Math.floor(ref / 1000) * 1000}`);
  for (const [group, members = []] of Object.entries(groups))
    console.log(`${group.padStart(6)}  ${share(members, answered)}`);
  console.log(`${share(entries, answered)} error_refs of the catalogue are answered in tests`);
}

function share(entries: Entry[], answered: Set<number>): string {
  const refs = new Set(entries.map(({ ref }) => ref));
  return `${refs.intersection(answered).size} of ${refs.size}`;
}

function printMissing(entries: Entry[], answered: Set<number>): void {
  for (const { name, ref, status } of entries.filter((entry) => !answered.has(entry.ref))) {
    console.log(`${String(ref).padStart(6)}  ${status}  ${name}`);
  }
}

function printUnknown(entries: Entry[], answered: number[]): void {
  const known = new Set(entries.map(({ ref }) => ref));
  const unknown = answered.filter((ref) => !known.has(ref));
  if (unknown.length > 0) console.log(`Answered, but not in the catalogue: ${unknown.join(', ')}`);
}

process.exitCode = main();
