import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { whenOverdue } from './overdue.ts';
import { type Counts, END_OF_OUTPUT, type News, type Order } from './protocol.ts';

export type Result = {
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  problem?: string;
  output: string;
};

export const nothing: Result = { passed: 0, failed: 0, skipped: 0, seconds: 0, output: '' };

const worker = fileURLToPath(new URL('worker.ts', import.meta.url));
const testContext = new URL('test-context.ts', import.meta.url).href;
const ownModules = new URL('../../bin/own-modules.mjs', import.meta.url).href;
// Modules of test files, and the services that they started, stay in memory.
const memoryMax = 1000 * 1024 ** 2;
// Most allocations of a request are short-lived; with a larger young generation they are collected without being copied.
const sharedOptions = ['--max-semi-space-size=64'];

/** Runs test files one after the other in one Node.js process, which loads and compiles the service only once. */
export class TestProcess {
  readonly #child: ChildProcess;
  readonly #output: Output;
  #full = false;

  constructor(env: NodeJS.ProcessEnv, { testSeconds, alone }: { testSeconds: number; alone: boolean }) {
    // A file that runs alone may measure memory, so it gets the default heap of the service.
    const options = [
      `--import=${ownModules}`,
      `--import=${testContext}`,
      `--test-timeout=${testSeconds * 1000}`,
      ...(alone ? [] : sharedOptions),
    ];
    this.#child = spawn(process.execPath, [...options, worker], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A separate process group, so that programs started by a test end with it.
      detached: process.platform !== 'win32',
    });
    running.add(this.#child);
    this.#child.once('exit', () => this.#closeOutput()).once('close', () => running.delete(this.#child));
    this.#output = new Output(this.#child);
  }

  /** Whether the process can run another file. */
  get isReady(): boolean {
    return this.#child.connected && !this.#full;
  }

  run(order: Order, fileSeconds: number): Promise<Result> {
    const started = performance.now();
    const child = this.#child;
    return new Promise((resolve) => {
      let stopped: string | undefined;
      const stop = (problem: string) => {
        stopped = problem;
        killGroup(child);
      };
      const tooLong = whenOverdue(fileSeconds, () => stop(`did not end within ${fileSeconds} s`));
      const settle = (result: Omit<Result, 'seconds' | 'output'>) => {
        tooLong.clear();
        child.off('message', hear).off('close', fail);
        resolve({ ...result, seconds: (performance.now() - started) / 1000, output: this.#output.take() });
      };
      const hear = async (news: News) => {
        if (news.type === 'leak') return stop(leakOf(news.resources));
        this.#full = news.memory > memoryMax;
        await this.#output.complete();
        settle(resultOf(news.counts, news.problem));
      };
      const fail = (code: number | null, signal: NodeJS.Signals | null) =>
        settle({ ...nothing, failed: 1, problem: stopped ?? endOf(code, signal) });
      child.on('message', hear).on('close', fail);
      child.send(order);
    });
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  /** Waits for remaining output, but not longer than the processes of the group live. */
  #closeOutput(): void {
    killGroup(this.#child);
    setTimeout(() => this.#child.stdout?.destroy() && this.#child.stderr?.destroy(), 2000).unref();
  }
}

/** The output of the current file, of both streams in order of arrival. */
class Output {
  #text = '';
  #open = 0;
  #ended: (() => void) | undefined;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) this.#follow(stream!);
  }

  #follow(stream: Readable): void {
    stream.setEncoding('utf8').on('data', (text: string) => {
      this.#text += text;
      this.#look();
    });
  }

  #look(): void {
    const parts = this.#text.split(END_OF_OUTPUT);
    this.#open = parts.length - 1;
    if (this.#open === 2) this.#ended?.();
  }

  /** Resolves when both streams have reached the end of the file's output. */
  async complete(): Promise<void> {
    if (this.#open === 2) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
  }

  take(): string {
    const text = this.#text.replaceAll(END_OF_OUTPUT, '');
    this.#text = '';
    this.#open = 0;
    return text;
  }
}

function resultOf(counts: Counts, problem: string | undefined): Omit<Result, 'seconds' | 'output'> {
  const { passed } = counts;
  const skipped = counts.skipped + counts.todo;
  const failed = counts.tests - passed - skipped;
  return problem === undefined
    ? { passed, failed, skipped }
    : { passed, failed: Math.max(failed, 1), skipped, problem };
}

const leakOf = (resources: string[]): string =>
  `left something open after its last test: ${resources.join(', ') || 'nothing that Node.js can name'}`;

function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal) return `crashed with ${signal}`;
  return code === 0 ? 'ended its process before its tests were over' : `crashed with exit code ${code}`;
}

const running = new Set<ChildProcess>();

/** Called whenever the runner ends, also by a signal. */
export const killAll = (): void => running.forEach(killGroup);

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All processes of the group have already ended.
  }
}
