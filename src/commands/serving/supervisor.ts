import type { ChildProcess } from 'node:child_process';
import type { Log } from '../../platform/runtime/log.ts';
import type { Downward, Upward } from '../../platform/runtime/siblings.ts';
import { type Member, SiblingHub } from './hub.ts';
import type { FromProcess, Started, StartOrder, ToProcess } from './messages.ts';

/** A process that ran this long counts as healthy, and its successor starts without delay. */
const HEALTHY_MS = 60_000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 30_000;
/** After the drain time a process that does not end is killed. */
const KILL_AFTER_DRAIN_MS = 10_000;

/** The process exited before it was ready; it has reported why on standard error. */
export class StartFailed extends Error {
  readonly exitCode: number;

  constructor(exitCode: number | null) {
    super('a process of the service could not start');
    this.exitCode = exitCode ?? 1;
  }
}

export interface SupervisorParts<Snapshot> {
  readonly count: number;
  readonly spawn: (slot: number) => ChildProcess;
  readonly order: StartOrder;
  readonly drainMs: number;
  readonly log: Log;
  readonly sumOfMetrics: (snapshots: readonly Snapshot[]) => Snapshot;
  readonly monotonicMs?: () => number;
  readonly wait?: (milliseconds: number) => Promise<void>;
}

/** A process of the service. */
interface Running {
  readonly child: ChildProcess;
  readonly started: Promise<Started>;
  readonly exited: Promise<void>;
  readonly sinceMs: number;
  isReady: boolean;
  /** True when the supervisor has asked it to end. */
  isStopping: boolean;
}

interface Slot {
  readonly index: number;
  current: Running | undefined;
  /** Consecutive processes that ended early. */
  failures: number;
}

/** Runs the processes of a service: starts, restarts, reloads and stops them. */
export class Supervisor<Snapshot> {
  readonly #parts: SupervisorParts<Snapshot>;
  readonly #hub: SiblingHub<Snapshot>;
  readonly #slots: readonly Slot[];
  readonly #running = new Set<Running>();
  readonly #now: () => number;
  #isStopping = false;
  #reloading: Promise<void> | undefined;
  #reloadAgain = false;

  constructor(parts: SupervisorParts<Snapshot>) {
    this.#parts = parts;
    this.#hub = new SiblingHub(parts.sumOfMetrics);
    this.#slots = Array.from({ length: parts.count }, (_, index) => ({ index, current: undefined, failures: 0 }));
    this.#now = parts.monotonicMs ?? (() => performance.now());
  }

  /**
   * Resolves when all processes serve. The first one prepares data and certificate alone, while the others load the
   * program.
   */
  async start(): Promise<Started> {
    const [first, ...others] = this.#slots as [Slot, ...Slot[]];
    const prepared = this.#launch(first, this.#parts.order);
    const order = { ...this.#parts.order, demo: undefined };
    const rest = others.map((slot) => this.#launch(slot, order, prepared));
    const [started] = await Promise.all([prepared, ...rest]);
    return started;
  }

  async #launch(slot: Slot, order: StartOrder, after?: Promise<unknown>): Promise<Started> {
    const running = this.#spawn(slot);
    slot.current ??= running;
    await after;
    send(running.child, order);
    const started = await running.started;
    slot.current = running;
    return started;
  }

  #spawn(slot: Slot): Running {
    const child = this.#parts.spawn(slot.index);
    const member: Member = { send: (message: Downward) => send(child, message) };
    const { promise: started, resolve, reject } = Promise.withResolvers<Started>();
    const exited = new Promise<void>((done) => child.once('exit', () => done()));
    const running: Running = {
      child,
      started,
      exited,
      sinceMs: this.#now(),
      isReady: false,
      isStopping: false,
    };
    this.#running.add(running);
    // A failure is reported where it is awaited.
    started.catch(() => {});
    child.on('message', (message: FromProcess) => {
      if (message.kind !== 'started') return this.#hub.receive(member, message as Upward);
      running.isReady = true;
      this.#hub.join(member);
      resolve(message);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      this.#running.delete(running);
      this.#hub.leave(member);
      reject(new StartFailed(code));
      if (running.isReady && !running.isStopping) this.#ended(slot, running, code, signal);
    });
    return running;
  }

  /** A process ended without being asked to. */
  #ended(slot: Slot, running: Running, code: number | null, signal: NodeJS.Signals | null): void {
    if (slot.current === running) slot.current = undefined;
    if (this.#isStopping) return;
    if (this.#now() - running.sinceMs >= HEALTHY_MS) slot.failures = 0;
    this.#parts.log.error('a process of the service ended and is restarted', { pid: running.child.pid, code, signal });
    void this.#restart(slot);
  }

  async #restart(slot: Slot): Promise<void> {
    while (!this.#isStopping && !slot.current?.isReady) {
      await this.#wait(backoffMs(slot.failures));
      slot.failures += 1;
      if (this.#isStopping) return;
      try {
        slot.current = undefined;
        await this.#launch(slot, { ...this.#parts.order, demo: undefined });
      } catch (error) {
        this.#parts.log.error('a process of the service could not start', { error });
      }
    }
  }

  #wait(milliseconds: number): Promise<void> {
    if (milliseconds === 0) return Promise.resolve();
    return this.#parts.wait?.(milliseconds) ?? new Promise((done) => setTimeout(done, milliseconds));
  }

  /** Replaces one process after the other. If a new process cannot start, the old ones stay. */
  reload(): Promise<void> {
    if (this.#reloading) this.#reloadAgain = true;
    this.#reloading ??= this.#reloadAll().finally(() => {
      this.#reloading = undefined;
      if (this.#reloadAgain && !this.#isStopping) void this.reload();
      this.#reloadAgain = false;
    });
    return this.#reloading;
  }

  async #reloadAll(): Promise<void> {
    for (const slot of this.#slots) {
      const old = slot.current;
      // A slot without a process is about to start one, which reads the same files.
      if (!old?.isReady || this.#isStopping) continue;
      try {
        await this.#launch(slot, { ...this.#parts.order, demo: undefined });
      } catch (error) {
        this.#parts.log.error('the reload stopped, because a new process could not start', { error });
        return;
      }
      await this.#end(old);
    }
    this.#parts.log.info('all processes of the service were replaced');
  }

  async #end(running: Running): Promise<void> {
    running.isStopping = true;
    if (running.isReady) send(running.child, { kind: 'stop' });
    else running.child.kill('SIGKILL');
    const timer = setTimeout(() => running.child.kill('SIGKILL'), this.#parts.drainMs + KILL_AFTER_DRAIN_MS);
    await running.exited;
    clearTimeout(timer);
  }

  /** Drains all processes and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#running].map((running) => this.#end(running)));
  }

  kill(): void {
    for (const { child } of this.#running) child.kill('SIGKILL');
  }
}

/** None after the first failure, then doubled each time. */
const backoffMs = (failures: number): number =>
  failures === 0 ? 0 : Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (failures - 1));

function send(child: ChildProcess, message: ToProcess): void {
  // The process may be about to end; the exit event says so.
  if (child.connected) child.send(message, () => {});
}
