import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { ensureSite } from '../src/commands/site-build.ts';
import { temporaryPlace } from '../test/memory.ts';
import { reachedErrors } from './reached-errors.ts';
import { cpuSecondsOfTree } from './testing/cpu.ts';
import { longestFirst, storeSeconds } from './testing/durations.ts';
import { chooseFiles, type Database, type Job, jobsOf, nameOf, needsPostgres } from './testing/jobs.ts';
import { killAll, nothing, type Result, TestProcess } from './testing/process.ts';

const help = `npm test [-- options] [pattern…]

Runs the tests of src/ and test/, those that use a database on SQLite and on PostgreSQL.
A pattern is a file, a glob, or a part of a path: npm test ratings

  --only=sqlite|postgres   run on one database only
  --fleet                  run on PostgreSQL, with three services on one database and one bucket that take turns;
                           the bucket is a small S3 server, or in that of MODSTEAD_TEST_S3_URL
  --concurrency=N          files at a time (default: one more than there are cores)
  --test-timeout=SECONDS   for one test (default 600)
  --file-timeout=SECONDS   for one file (default 600), longer where others use the machine too
  --leak-timeout=SECONDS   for what a file leaves open after its last test (default 10)
  --cpu                    run one file at a time and print its CPU time, with that of PostgreSQL (Linux only)
  --verbose                print the tests of files that pass, too
  --help                   print this

The last line is "N passed, M failed"; the exit code is 1 when something failed or nothing ran.
PostgreSQL is started for the run unless MODSTEAD_TEST_POSTGRES_URL names a server.`;

type Outcome = Result & { job: Job; cpuSeconds?: number };
type Settings = {
  concurrency: number;
  testSeconds: number;
  fileSeconds: number;
  leakSeconds: number;
  cpu: boolean;
  verbose: boolean;
};

const preloaded = 'test/api.ts';
const resultsFolder = 'test-results';
const failureCharactersMax = 4_000;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      fleet: { type: 'boolean' },
      concurrency: { type: 'string' },
      'test-timeout': { type: 'string' },
      'file-timeout': { type: 'string' },
      'leak-timeout': { type: 'string' },
      cpu: { type: 'boolean' },
      verbose: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (values.fleet) process.env['MODSTEAD_TEST_FLEET'] = '3';
  const databases = databasesOf(values.fleet ? 'postgres' : values.only);
  const jobs = jobsOf(chooseFiles(positionals), databases);
  const settings: Settings = {
    concurrency: values.cpu ? 1 : positive('concurrency', values.concurrency, os.availableParallelism() + 1),
    testSeconds: positive('test-timeout', values['test-timeout'], 600),
    fileSeconds: positive('file-timeout', values['file-timeout'], 600),
    leakSeconds: positive('leak-timeout', values['leak-timeout'], 10),
    cpu: values.cpu ?? false,
    verbose: values.verbose ?? false,
  };
  if (jobs.some(({ usesSite }) => usesSite)) await ensureSite(console.log);
  // test-results/ always has the results of a whole run.
  const whole = positionals.length === 0 && values.only === undefined && !values.fleet;
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

/** Runs both databases from one queue, so that no core waits while the other finishes the first database. */
async function runAll(jobs: Job[], settings: Settings): Promise<Outcome[]> {
  const postgres = jobs.some(needsPostgres) ? startServer() : undefined;
  const outcomes: Outcome[] = [];
  const queue = longestFirst(jobs);
  const work = async () => {
    const lane = new Lane(settings, postgres);
    for (let job = lane.take(queue); job; job = lane.take(queue)) {
      const outcome = { job, ...(await (settings.cpu ? measured(lane, job) : lane.run(job))) };
      outcomes.push(outcome);
      printOutcome(outcome, settings.verbose);
    }
    lane.end();
  };
  await Promise.all(Array.from({ length: settings.concurrency }, work));
  await (await postgres)?.stop?.();
  storeSeconds(outcomes.filter(({ failed }) => failed === 0).map(({ job, seconds }) => [job, seconds]));
  return outcomes;
}

async function measured(lane: Lane, job: Job): Promise<Omit<Outcome, 'job'>> {
  const before = cpuSecondsOfTree();
  const result = await lane.run(job);
  return { ...result, cpuSeconds: cpuSecondsOfTree() - before };
}

/** Runs one file at a time: those that run alone in a process each, and the others in one process per database. */
class Lane {
  readonly #settings: Settings;
  readonly #postgres: Promise<Server> | undefined;
  #process: TestProcess | undefined;
  #database: Database | undefined;

  constructor(settings: Settings, postgres: Promise<Server> | undefined) {
    this.#settings = settings;
    this.#postgres = postgres;
  }

  take(queue: Job[]): Job | undefined {
    const fits = queue.findIndex((job) => !this.#database || !job.usesDatabase || job.database === this.#database);
    return queue.splice(Math.max(fits, 0), 1)[0];
  }

  async run(job: Job): Promise<Result> {
    const process = this.#processFor(job);
    const server = needsPostgres(job) ? await this.#postgres! : {};
    if (server.problem) return { ...nothing, failed: 1, problem: server.problem };
    const { fileSeconds, leakSeconds } = this.#settings;
    const env: Record<string, string> = server.url === undefined ? {} : { MODSTEAD_TEST_POSTGRES_URL: server.url };
    const order = { file: path.resolve(job.file), alone: job.alone, leakSeconds, env };
    const result = await process.run(order, fileSeconds);
    if (job.alone) process.end();
    return result;
  }

  #processFor(job: Job): TestProcess {
    const { testSeconds } = this.#settings;
    const start = () => new TestProcess(environmentOf(job), { testSeconds, alone: job.alone });
    if (job.alone) return start();
    const fits = !job.usesDatabase || job.database === this.#database;
    if (this.#process?.isReady && fits) return this.#process;
    this.end();
    this.#database = job.database;
    this.#process = start();
    return this.#process;
  }

  end(): void {
    this.#process?.end();
    this.#process = undefined;
    this.#database = undefined;
  }
}

type Server = { url?: string; problem?: string; stop?(): Promise<void> };

async function startServer(): Promise<Server> {
  try {
    const { startPostgres } = await import('../test/postgres.ts');
    return await startPostgres();
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function environmentOf(job: Job): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    // Compiling the same modules takes half the time of a short file. The service uses the same cache.
    NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/modstead', import.meta.url)),
    ...process.env,
    MODSTEAD_TEST_DATABASE: job.database,
    MODSTEAD_TEST_FOLDER: folderOfRun(),
  };
  // Set when the runner's own test starts a runner; it would turn the reporters off.
  delete env['NODE_TEST_CONTEXT'];
  if (job.usesDatabase && fs.existsSync(preloaded)) env['MODSTEAD_TEST_PRELOAD'] = path.resolve(preloaded);
  return env;
}

let madeFolder: string | undefined;

/** The folder for the data of all test files; it is removed when the run ends, even after a failure. */
function folderOfRun(): string {
  if (madeFolder) return madeFolder;
  const folder = fs.mkdtempSync(path.join(temporaryPlace(), 'modstead-tests-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  madeFolder = folder;
  return folder;
}

function printOutcome(outcome: Outcome, verbose: boolean): void {
  const bad = outcome.failed > 0;
  const name = nameOf(outcome.job);
  const skipped = outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : '';
  const counts = bad ? `${outcome.passed} passed, ${outcome.failed} failed` : `${outcome.passed} passed`;
  const cpu = outcome.cpuSeconds === undefined ? '' : `, ${outcome.cpuSeconds.toFixed(1)} s CPU`;
  console.log(`${bad ? 'FAIL' : 'ok  '} ${name}: ${counts}${skipped}, ${outcome.seconds.toFixed(1)} s${cpu}`);
  if (outcome.problem) console.log(`     ${name} ${outcome.problem}`);
  const output = verbose ? outcome.output : bad ? withoutPasses(outcome.output) : '';
  if (output.trim() !== '') console.log(indent(output));
}

/** CI may show only the first lines after a failure. */
function withoutPasses(output: string): string {
  return output
    .split('\n')
    .filter((line) => !/^\s*[✔ℹ]/u.test(stripVTControlCharacters(line)))
    .join('\n');
}

// Indented, so that no line of a test's output looks like the closing line.
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
  process.on('exit', killAll).once('SIGINT', endBy).once('SIGTERM', endBy);
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
