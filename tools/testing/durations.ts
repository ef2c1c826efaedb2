import fs from 'node:fs';
import path from 'node:path';
import committed from './durations.json' with { type: 'json' };
import { type Job, nameOf } from './jobs.ts';

const folder = path.join('node_modules', '.cache');
const kept = path.join(folder, 'modstead-test-seconds.json');
// A first guess for files that neither ran here nor are in durations.json, which has the files that take long: files of the
// same size differ, but long files come early.
const bytesPerSecond = 4_000;

/** The longest first, so that at the end of a run no core waits for a long file that began late. */
export function longestFirst(jobs: Job[]): Job[] {
  const seconds: Record<string, number> = { ...committed, ...keptSeconds() };
  const estimates = new Map(
    jobs.map((job) => [job, seconds[nameOf(job)] ?? fs.statSync(job.file).size / bytesPerSecond]),
  );
  // Files that run alone are those that start programs or wait, and each of them takes long.
  const byLength = (one: Job, other: Job) => estimates.get(other)! - estimates.get(one)!;
  return [...jobs.filter((job) => job.alone).sort(byLength), ...jobs.filter((job) => !job.alone).sort(byLength)];
}

export function keepSeconds(measured: [Job, number][]): void {
  if (!fs.existsSync('node_modules')) return;
  const all = { ...keptSeconds(), ...Object.fromEntries(measured.map(([job, seconds]) => [nameOf(job), seconds])) };
  const known = Object.entries(all).filter(([name]) => fs.existsSync(name.split(' ')[0]!));
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(kept, `${JSON.stringify(Object.fromEntries(known))}\n`);
}

function keptSeconds(): Record<string, number> {
  try {
    return JSON.parse(fs.readFileSync(kept, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
