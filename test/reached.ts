import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { App } from '../src/platform/app.ts';
import { systemRandom } from '../src/platform/runtime/random.ts';

/** How a test met an error, as `npm run errors` counts it. */
export interface Reached {
  readonly ref: number;
  readonly test: string;
  /** The test, or the setup of its file, wrote to the database past the API. */
  readonly wrote: boolean;
}

const SETUP = 'setup';
/** These build what can be had through the API or a command as well. */
const FIXTURES = /\/test\/(api|browser|cooking|modfiles|uploads|platforms|zips)\.ts/;
const TESTS = /\.test\.ts|\/test\/[\w-]+\.ts/;
/** What a worker does for a test is the service's own work. */
const WORKERS = /\/platform\/jobs\/worker\.ts/;
const FRAMES_MAX = 100;

/** Tells the writes of tests from those of the service, and which test met which error. */
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

  /** A fixture made a state that nobody can reach through the API. */
  wrote(): void {
    this.#writers.add(this.#test);
  }

  watch({ db }: App): void {
    const { write } = db;
    const watched: typeof db.write = (work) => {
      if (isOfTest()) this.wrote();
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
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  const stack = new Error().stack ?? '';
  Error.stackTraceLimit = stackTraceLimit;
  const frames = stack.split('\n').filter((frame) => !frame.includes('/test/reached.ts'));
  if (frames.some((frame) => WORKERS.test(frame))) return false;
  // The first frame of a test or fixture is the one that wanted the write.
  const wanting = frames.find((frame) => TESTS.test(frame));
  return wanting !== undefined && !FIXTURES.test(wanting);
}
