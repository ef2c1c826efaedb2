import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const KILL_MS = 10_000;

/** How the studio's program exited. */
export interface Ended {
  readonly code: number | null;
  /** Why it could not be started. */
  readonly problem?: string;
}

/** The studio's program, in a process group of its own, so that its children can be stopped, too. */
export class Program {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  constructor(words: readonly string[], environment: NodeJS.ProcessEnv, folder: string, line: (text: string) => void) {
    const [name, ...args] = words;
    this.#child = spawn(name!, args, {
      env: environment,
      cwd: folder,
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) createInterface(stream).on('line', line);
    this.ended = new Promise((resolve) => {
      this.#child.on('error', ({ message }) => resolve({ code: null, problem: message }));
      this.#child.on('close', (code) => resolve({ code }));
    });
  }

  /** Sends SIGTERM, and SIGKILL if that does not help. */
  stop(): void {
    this.#signal('SIGTERM');
    const timer = setTimeout(() => this.#signal('SIGKILL'), KILL_MS).unref();
    void this.ended.then(() => clearTimeout(timer));
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, signal);
    } catch {
      // It has already exited.
    }
  }
}
