import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../runtime/child-environment.ts';
import type { ImageKind } from './kinds.ts';
import { ImageProblem, type ImageReason, ImagesBusy } from './problem.ts';

/** Processes exchange bytes as files, so that the service itself never loads a picture into memory. */
export interface RenderRequest extends Pick<ImageKind, 'min' | 'thumbs'> {
  /** The folder of the file `source` and of the PNGs. */
  readonly folder: string;
}

/** `images` are the names of the written PNGs; `failure` is not the fault of the picture. */
export type WorkerAnswer =
  | 'ready'
  | { readonly images: string[] }
  | { readonly problem: ImageReason }
  | { readonly failure: string };

export interface RendererLimits {
  readonly workersMax: number;
  /** The maximum length of the queue. */
  readonly queueMax: number;
  readonly timeMs: number;
  /** A worker that is idle for this long is ended, which frees its memory. */
  readonly idleMs: number;
  readonly program: string;
}

const LIMITS: RendererLimits = {
  workersMax: 2,
  queueMax: 32,
  timeMs: 10_000,
  idleMs: 30_000,
  program: fileURLToPath(new URL('./worker.ts', import.meta.url)),
};

const START_MS = 60_000;
const HEAP_MEGABYTES_MAX = 128;
const COMPLAINT_CHARACTERS_MAX = 2_000;

/** A few worker processes, started on demand, each with one image at a time. */
export class Renderers {
  readonly #limits: RendererLimits;
  readonly #idle = new Map<Renderer, NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(limits: Partial<RendererLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The number of worker processes. */
  get workers(): number {
    return this.#busy + this.#idle.size;
  }

  async render(request: RenderRequest): Promise<string[]> {
    await this.#turn();
    try {
      return await this.#renderNow(request);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy -= 1;
    }
  }

  async #turn(): Promise<void> {
    const { workersMax, queueMax } = this.#limits;
    if (this.#busy < workersMax) this.#busy += 1;
    else if (this.#waiting.length >= queueMax) throw new ImagesBusy(`${queueMax} images wait already`);
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #renderNow(request: RenderRequest): Promise<string[]> {
    const renderer = this.#takeIdle() ?? (await Renderer.start(this.#limits.program));
    const images = renderer.render(request, this.#limits.timeMs);
    return images.finally(() => this.#rest(renderer));
  }

  #takeIdle(): Renderer | undefined {
    for (const [renderer, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(renderer);
      if (renderer.isAlive) return renderer;
    }
    return undefined;
  }

  #rest(renderer: Renderer): void {
    if (!renderer.isAlive) return;
    const end = () => this.#idle.delete(renderer) && renderer.end();
    this.#idle.set(renderer, setTimeout(end, this.#limits.idleMs).unref());
  }
}

/**
 * One worker process. A thread inside a native decoder cannot be stopped, crashes the whole process, and does not
 * return its memory.
 */
class Renderer {
  readonly #child: ChildProcess;
  #complaint = '';
  #hear: ((answer: WorkerAnswer | Error) => void) | undefined;

  private constructor(program: string) {
    this.#child = fork(program, [], {
      execArgv: [`--max-old-space-size=${HEAP_MEGABYTES_MAX}`],
      env: { ...childEnvironment(), MALLOC_ARENA_MAX: '2' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.on('data', (chunk) => {
      this.#complaint = (this.#complaint + chunk).slice(-COMPLAINT_CHARACTERS_MAX);
    });
    this.#child.on('message', (answer: WorkerAnswer) => this.#hear?.(answer));
    this.#child.on('error', (error) => this.#hear?.(error));
    this.#child.on('exit', (code, signal) =>
      this.#hear?.(new Error(`the image worker ended with ${signal ?? code}: ${this.#complaint}`)),
    );
  }

  static async start(program: string): Promise<Renderer> {
    const renderer = new Renderer(program);
    const answer = await renderer.#ask(undefined, START_MS);
    if (answer === 'ready') return renderer;
    renderer.end();
    throw new Error('the image worker did not start', { cause: answer });
  }

  get isAlive(): boolean {
    const { exitCode, signalCode, killed, connected } = this.#child;
    return exitCode === null && signalCode === null && !killed && connected;
  }

  async render(request: RenderRequest, timeMs: number): Promise<string[]> {
    const answer = await this.#ask(request, timeMs);
    if (answer instanceof Error) {
      // A killed worker took too much time or memory; one that crashed did so because of these bytes.
      const isKilled = this.#child.killed || this.#child.signalCode === 'SIGKILL';
      this.end();
      throw new ImageProblem(isKilled ? 'too-large' : 'corrupt', { cause: answer });
    }
    if (typeof answer === 'object' && 'images' in answer) return answer.images;
    if (typeof answer === 'object' && 'problem' in answer) throw new ImageProblem(answer.problem);
    throw new Error('the image worker failed', { cause: answer });
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  /** A worker keeps this process alive only while it handles a request. */
  async #ask(request: RenderRequest | undefined, timeMs: number): Promise<WorkerAnswer | Error> {
    this.#hold();
    let timer: NodeJS.Timeout | undefined;
    const answer = await new Promise<WorkerAnswer | Error>((resolve) => {
      this.#hear = resolve;
      timer = setTimeout(() => {
        this.end();
        resolve(new Error(`the image worker took longer than ${timeMs} ms`));
      }, timeMs);
      if (request) this.#child.send(request, (error) => error && resolve(error));
    });
    this.#hear = undefined;
    clearTimeout(timer);
    this.#letGo();
    return answer;
  }

  #hold(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  #letGo(): void {
    this.#child.unref();
    this.#child.channel?.unref();
    (this.#child.stderr as { unref?(): void } | null)?.unref?.();
  }
}
