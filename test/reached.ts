import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { App } from '../src/platform/app.ts';
import { systemRandom } from '../src/platform/runtime/random.ts';

/** An error that a test reached, as `npm run errors` counts it. */
export interface Reached {
  readonly ref: number;
  readonly test: string;
  /** Whether the test or the setup of its file wrote to the database directly. */
  readonly wrote: boolean;
}

const SETUP = 'setup';
/** Fixtures that build only states that the API or a command can also build. */
const FIXTURES = /\/test\/(api|browser|cooking|modfiles|uploads|platforms|zips)\.ts/;
const TESTS = /\.test\.ts|\/test\/[\w-]+\.ts/;
/** They stand between the service and its database, and write nothing themselves. */
const OBSERVERS = /\/test\/(reached|barriers|removals)\.ts/;
/** Writes of a worker are the service's own, even if a test runs it. */
const WORKERS = /\/platform\/jobs\/worker\.ts/;
const FRAMES_MAX = 100;

/** Distinguishes writes of tests from those of the service, and records which test reached which error. */
export class ReachedErrors {
  readonly #file = process.env['MODSTEAD_TEST_FILE'] ?? relative(process.cwd(), process.argv[1] ?? '');
  readonly #met = new Map<string, number>();
  readonly #writers = new Set<string>();
  #test = SETUP;

  begin(test: string): void {
    this.#test = test;
  }

  meet(ref: number): void {
    this.#met.set(`${ref} ${this.#test}`, ref);
  }

  /** Records that a fixture created a state that the API cannot create. */
  wrote(): void {
    this.#writers.add(this.#test);
  }

  watch({ db }: App): void {
    const { write } = db;
    const watched: typeof db.write = (work) => {
      // A stack is only looked at while it can tell something new.
      if (!this.#writers.has(this.#test) && isOfTest()) this.wrote();
      return write.call(db, work) as ReturnType<typeof write<Awaited<ReturnType<typeof work>>>>;
    };
    Object.assign(db, { write: watched });
  }

  all(): Reached[] {
    const hasSetup = this.#writers.has(SETUP);
    return [...this.#met].map(([key, ref]) => {
      const test = key.slice(key.indexOf(' ') + 1);
      return { ref, test: `${this.#file}: ${test}`, wrote: hasSetup || this.#writers.has(test) };
    });
  }

  save(folder = 'test-results/refs'): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${process.pid}-${systemRandom.hex(8)}.json`), JSON.stringify(this.all()));
  }
}

function isOfTest(): boolean {
  const files = filesOfStack().filter((file) => !OBSERVERS.test(file));
  if (files.some((file) => WORKERS.test(file))) return false;
  // The innermost frame of a test or fixture caused the write.
  const cause = files.find((file) => TESTS.test(file));
  return cause !== undefined && !FIXTURES.test(cause);
}

/** The files of all frames. Formatting a stack as text for every transaction would be slow. */
function filesOfStack(): string[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  Error.prepareStackTrace = (_, frames) => frames.map((frame) => frame.getFileName() ?? '');
  const files = new Error().stack as unknown as string[];
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  return files;
}
