import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { temporaryPlace } from '../test/memory.ts';
import { reachedErrors } from './reached-errors.ts';

const help = `npm test [-- options] [pattern…]

Runs the tests of src/ and test/, those that use a database on SQLite and on PostgreSQL.
A pattern is a file, a glob, or a part of a path: npm test ratings

  --only=sqlite|postgres   run on one database only
  --concurrency=N          files at a time (default: the number of cores)
  --test-timeout=SECONDS   for one test (default 600)
  --file-timeout=SECONDS   for one file (default 600), longer where others use the machine too
  --verbose                print the tests of files that pass, too
  --help                   print this

The last line is "N passed, M failed"; the exit code is 1 when something failed or nothing ran.
PostgreSQL is started for the run unless MODSTEAD_TEST_POSTGRES_URL names a server.`;

type Database = 'sqlite' | 'postgres';
type Job = { file: string; database: Database; usesDatabase: boolean };
type Result = { passed: number; failed: number; skipped: number; seconds: number; problem?: string; output: string };
type Outcome = Result & { job: Job };
type Settings = { concurrency: number; testSeconds: number; fileSeconds: number; verbose: boolean };

/** What a test file tells the runner while it runs. */
type News =
  | { type: 'enqueued' | 'completed' }
  | { type: 'summary'; counts: { tests: number; passed: number; skipped: number; todo: number } };

const defaultGlobs = ['src/**/*.test.ts', 'test/**/*.test.ts'];
const resultsFolder = 'test-results';
const failureCharactersMax = 4_000;
// Files whose tests are over end within milliseconds unless a server, socket or timer was left open.
const leakSeconds = 10;

/** The reporter inside each test file's process: forwards to the runner what it has to know. */
export default async function* forward(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  // A runner that was killed takes its test files along; the listener alone must not keep them running.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  const send = (news: News) => process.send?.(news);
  for await (const event of source) {
    if (event.type === 'test:enqueue') send({ type: 'enqueued' });
    if (event.type === 'test:complete') send({ type: 'completed' });
    if (event.type === 'test:summary') send({ type: 'summary', counts: event.data.counts });
  }
  yield '';
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      concurrency: { type: 'string' },
      'test-timeout': { type: 'string' },
      'file-timeout': { type: 'string' },
      verbose: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const databases = databasesOf(values.only);
  const jobs = jobsOf(chooseFiles(positionals), databases);
  const settings: Settings = {
    concurrency: positive('concurrency', values.concurrency, os.availableParallelism()),
    testSeconds: positive('test-timeout', values['test-timeout'], 600),
    fileSeconds: positive('file-timeout', values['file-timeout'], 600),
    verbose: values.verbose ?? false,
  };
  // The figures in test-results/ are always those of a whole run.
  const whole = positionals.length === 0 && values.only === undefined;
  if (whole) emptyResults();
  const outcomes = await runAll(jobs, settings);
  if (whole) mergeErrorRefs();
  return conclude(jobs, outcomes);
}

function databasesOf(only: string | undefined): Database[] {
  if (only === undefined) return ['sqlite', 'postgres'];
  if (only === 'sqlite' || only === 'postgres') return [only];
  throw new Error(`--only is sqlite or postgres, not "${only}".`);
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value > 0)) throw new Error(`--${name} is a number above 0, not "${text}".`);
  return value;
}

function chooseFiles(patterns: string[]): string[] {
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

function jobsOf(files: string[], databases: Database[]): Job[] {
  const users = new Set(files.filter(usesDatabase));
  const [first, ...others] = databases;
  const jobOn = (database: Database) => (file: string) => ({ file, database, usesDatabase: users.has(file) });
  return [...files.map(jobOn(first!)), ...others.flatMap((database) => [...users].map(jobOn(database)))];
}

function usesDatabase(file: string): boolean {
  return /^import\s[^;]*?\b(startApi|eachDatabase|crashLoop|mountSmallDisk)\b[^;]*?\sfrom\s/m.test(
    fs.readFileSync(file, 'utf8'),
  );
}

/** Runs both databases from one queue, so that no core waits while the other finishes the first database. */
async function runAll(jobs: Job[], settings: Settings): Promise<Outcome[]> {
  const postgres = jobs.some(needsPostgres) ? startServer() : undefined;
  const outcomes: Outcome[] = [];
  const queue = [...jobs];
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      const outcome = { job, ...(await runJob(job, settings, postgres)) };
      outcomes.push(outcome);
      printOutcome(outcome, settings.verbose);
    }
  };
  await Promise.all(Array.from({ length: settings.concurrency }, worker));
  await (await postgres)?.stop?.();
  return outcomes;
}

const needsPostgres = (job: Job) => job.usesDatabase && job.database === 'postgres';

type Server = { url?: string; problem?: string; stop?(): Promise<void> };

async function startServer(): Promise<Server> {
  try {
    const { startPostgres } = await import('../test/postgres.ts');
    return await startPostgres();
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function runJob(job: Job, settings: Settings, postgres: Promise<Server> | undefined): Promise<Result> {
  const env: NodeJS.ProcessEnv = {
    // Half of what a short file takes is the compiling of the same modules. The service keeps them there, too.
    NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/modstead', import.meta.url)),
    ...process.env,
    MODSTEAD_TEST_DATABASE: job.database,
    MODSTEAD_TEST_FOLDER: folderOfRun(),
  };
  // Set where a runner runs inside a test of a runner; it would turn the reporters off.
  delete env['NODE_TEST_CONTEXT'];
  if (needsPostgres(job)) {
    const server = await postgres!;
    if (server.problem) return { ...nothing, failed: 1, problem: server.problem };
    env['MODSTEAD_TEST_POSTGRES_URL'] = server.url;
  }
  return runFile(job.file, env, settings);
}

let madeFolder: string | undefined;

/** Where all files of the run keep their data; it goes with the run, whichever way they ended. */
function folderOfRun(): string {
  if (madeFolder) return madeFolder;
  const folder = fs.mkdtempSync(path.join(temporaryPlace(), 'modstead-tests-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  madeFolder = folder;
  return folder;
}

const nothing: Result = { passed: 0, failed: 0, skipped: 0, seconds: 0, output: '' };

function runFile(file: string, env: NodeJS.ProcessEnv, settings: Settings): Promise<Result> {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${import.meta.url}`,
      '--test-reporter-destination=stderr',
      `--test-timeout=${settings.testSeconds * 1000}`,
      path.resolve(file),
    ],
    // A group of its own, so that programs which a test started end with it.
    { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: process.platform !== 'win32' },
  );
  running.add(child);
  const output: Buffer[] = [];
  child.stdout?.on('data', (chunk) => output.push(chunk));
  child.stderr?.on('data', (chunk) => output.push(chunk));
  const watch = watchOver(child, settings.fileSeconds);

  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      // Output may still be on its way, but never longer than the programs of this group live.
      killGroup(child);
      setTimeout(() => child.stdout?.destroy() && child.stderr?.destroy(), 2000).unref();
      child.once('close', () => {
        running.delete(child);
        const seconds = (performance.now() - started) / 1000;
        resolve({ ...judge(watch.end(), code, signal), seconds, output: Buffer.concat(output).toString('utf8') });
      });
    });
  });
}

type Overdue = { clear(): void };

/**
 * Calls back after so many seconds, and later where more programs want to run than there are cores: each of them then
 * gets its share of the time alone. Limits are for what hangs, and not for what is slow.
 */
function whenOverdue(seconds: number, stop: () => void): Overdue {
  const began = performance.now();
  let timer: NodeJS.Timeout;
  const look = () => {
    const share = Math.max(1, os.loadavg()[0]! / os.availableParallelism());
    const left = seconds * share - (performance.now() - began) / 1000;
    if (left <= 0) stop();
    else timer = setTimeout(look, left * 1000);
  };
  timer = setTimeout(look, seconds * 1000);
  return { clear: () => clearTimeout(timer) };
}

type Seen = { summary?: Extract<News, { type: 'summary' }>['counts']; stopped?: string };

/** Follows what a file reports, and ends a file that takes too long or does not end after its last test. */
function watchOver(child: ChildProcess, fileSeconds: number): { end(): Seen } {
  const seen: Seen = {};
  let open = 0;
  let leak: Overdue | undefined;
  const stop = (problem: string) => {
    seen.stopped = problem;
    killGroup(child);
  };
  const tooLong = whenOverdue(fileSeconds, () => stop(`did not end within ${fileSeconds} s`));
  child.on('message', (news: News) => {
    leak?.clear();
    if (news.type === 'summary') seen.summary = news.counts;
    else open += news.type === 'enqueued' ? 1 : -1;
    const afterLast = `left something open: still running ${leakSeconds} s after its last test`;
    if (open === 0) leak = whenOverdue(leakSeconds, () => stop(afterLast));
  });
  const end = () => {
    tooLong.clear();
    leak?.clear();
    return seen;
  };
  return { end };
}

/** A file passes only if it said so itself and then ended well; all else counts as at least one failure. */
function judge(seen: Seen, code: number | null, signal: NodeJS.Signals | null): Omit<Result, 'seconds' | 'output'> {
  const counts = seen.summary ?? { tests: 0, passed: 0, skipped: 0, todo: 0 };
  const { passed } = counts;
  const skipped = counts.skipped + counts.todo;
  const failed = counts.tests - passed - skipped;
  const problem = seen.stopped ?? unexpectedEnd(seen, code, signal, failed);
  return problem === undefined
    ? { passed, failed, skipped }
    : { passed, failed: Math.max(failed, 1), skipped, problem };
}

function unexpectedEnd(seen: Seen, code: number | null, signal: string | null, failed: number): string | undefined {
  if (signal) return `crashed with ${signal}`;
  if (!seen.summary) return code === 0 ? 'ended without reporting a test' : `crashed with exit code ${code}`;
  if (code !== 0 && failed === 0) return `failed outside its tests, with exit code ${code}`;
  return undefined;
}

const running = new Set<ChildProcess>();

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is empty already.
  }
}

const nameOf = ({ file, database, usesDatabase }: Job): string => (usesDatabase ? `${file} (${database})` : file);

function printOutcome(outcome: Outcome, verbose: boolean): void {
  const bad = outcome.failed > 0;
  const name = nameOf(outcome.job);
  const skipped = outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : '';
  const counts = bad ? `${outcome.passed} passed, ${outcome.failed} failed` : `${outcome.passed} passed`;
  console.log(`${bad ? 'FAIL' : 'ok  '} ${name}: ${counts}${skipped}, ${outcome.seconds.toFixed(1)} s`);
  if (outcome.problem) console.log(`     ${name} ${outcome.problem}`);
  if ((bad || verbose) && outcome.output.trim() !== '') console.log(indent(outcome.output));
}

// Indented, so that no line of a test's output can be taken for the closing line.
function indent(output: string): string {
  const text = process.stdout.isTTY ? output : stripVTControlCharacters(output);
  return text.trimEnd().replace(/^/gm, '     ');
}

function conclude(jobs: Job[], outcomes: Outcome[]): number {
  const sum = (key: 'passed' | 'failed' | 'skipped') => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')];
  if (jobs.length === 0) console.log('There was no test file to run.');
  for (const outcome of outcomes.filter((each) => each.failed > 0)) repeatFailure(outcome);
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

/** A whole run prints far more than a screen, and CI may keep only the end of it. */
function repeatFailure({ job, problem, output }: Outcome): void {
  console.log(`FAIL ${nameOf(job)}${problem === undefined ? '' : ` ${problem}`}`);
  const details = output.indexOf('failing tests:');
  if (details !== -1) console.log(indent(output.slice(details).slice(0, failureCharactersMax)));
}

function emptyResults(): void {
  fs.rmSync(resultsFolder, { recursive: true, force: true });
  fs.mkdirSync(resultsFolder);
}

function mergeErrorRefs(): void {
  const refs = path.join(resultsFolder, 'refs');
  const text = JSON.stringify(reachedErrors(refs));
  fs.mkdirSync(resultsFolder, { recursive: true });
  fs.writeFileSync(path.join(resultsFolder, 'error-refs.json'), `${text}\n`);
  fs.rmSync(refs, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const endBy = (signal: NodeJS.Signals) => process.exit(128 + os.constants.signals[signal]);
  process
    .on('exit', () => running.forEach(killGroup))
    .once('SIGINT', endBy)
    .once('SIGTERM', endBy);
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
