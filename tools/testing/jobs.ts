import fs from 'node:fs';
import path from 'node:path';

export type Database = 'sqlite' | 'postgres';
export type Job = {
  file: string;
  database: Database;
  usesDatabase: boolean;
  /** The file changes process-wide state, so it gets its own process. */
  alone: boolean;
  /** The file opens pages of the site, which has to be built. */
  usesSite: boolean;
};

const defaultGlobs = ['src/**/*.test.ts', 'test/**/*.test.ts'];
const USES_DATABASE =
  /^import\s[^;]*?\b(startApi|startBounded|eachDatabase|temporaryDatabases|crashLoop|mountSmallDisk)\b[^;]*?\sfrom\s/m;
/** Programs build a site that is missing or old, each for itself. */
const USES_SITE = /\bsite: builtSite\(\)|\brunProgram\(/;
const RUNS_ALONE = /^\/\/ Runs alone: /m;
/** Its subject is the same on every database. */
const RUNS_ONCE = /^\/\/ Runs on one database: /m;

export const nameOf = ({ file, database, usesDatabase }: Job): string =>
  usesDatabase ? `${file} (${database})` : file;

export const needsPostgres = (job: Job): boolean => job.usesDatabase && job.database === 'postgres';

export function chooseFiles(patterns: string[]): string[] {
  const all = fs.globSync(defaultGlobs).sort();
  if (patterns.length === 0) return all;
  const chosen = patterns.flatMap((pattern) => {
    const matches = fs.statSync(pattern, { throwIfNoEntry: false })?.isFile()
      ? [path.relative('.', pattern)]
      : all.filter((file) => file.includes(pattern) || path.matchesGlob(file, pattern));
    if (matches.length === 0) throw new Error(`No test file matches "${pattern}".`);
    return matches;
  });
  return [...new Set(chosen)];
}

/** A file that uses no database, or whose subject does not depend on it, runs once. */
export function jobsOf(files: string[], [first, ...others]: Database[]): Job[] {
  return files.flatMap((file) => {
    const text = fs.readFileSync(file, 'utf8');
    const job = {
      file,
      usesDatabase: USES_DATABASE.test(text),
      alone: RUNS_ALONE.test(text),
      usesSite: USES_SITE.test(text),
    };
    const databases = job.usesDatabase && !RUNS_ONCE.test(text) ? [first!, ...others] : [first!];
    return databases.map((database) => ({ ...job, database }));
  });
}
