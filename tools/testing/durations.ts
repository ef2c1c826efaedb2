import fs from 'node:fs';
import path from 'node:path';
import committed from './durations.json' with { type: 'json' };
import { type Job, nameOf } from './jobs.ts';

const folder = path.join('node_modules', '.cache');
const kept = path.join(folder, 'modstead-test-seconds.json');
// An estimate by size for files that neither ran here nor are in durations.json, which lists the slow files. It is rough,
// but puts large files early.
const bytesPerSecond = 4_000;

/** Sorts the longest first, so that no core is idle at the end of a run while another runs a long file. */
export function longestFirst(jobs: Job[]): Job[] {
  const seconds: Record<string, number> = { ...committed, ...storedSeconds() };
  const estimates = new Map(
    jobs.map((job) => [job, seconds[nameOf(job)] ?? fs.statSync(job.file).size / bytesPerSecond]),
  );
  // Files that run alone start programs or wait, so each of them is slow.
  const byLength = (one: Job, other: Job) => estimates.get(other)! - estimates.get(one)!;
  return [...jobs.filter((job) => job.alone).sort(byLength), ...jobs.filter((job) => !job.alone).sort(byLength)];
}

export function storeSeconds(measured: [Job, number][]): void {
  if (!fs.existsSync('node_modules')) return;
  const all = { ...storedSeconds(), ...Object.fromEntries(measured.map(([job, seconds]) => [nameOf(job), seconds])) };
  const known = Object.entries(all).filter(([name]) => fs.existsSync(name.split(' ')[0]!));
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(kept, `${JSON.stringify(Object.fromEntries(known))}\n`);
}

function storedSeconds(): Record<string, number> {
  try {
    return JSON.parse(fs.readFileSync(kept, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
