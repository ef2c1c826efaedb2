/** The processes of one service on this machine, as one of them sees the others. */
export interface Siblings {
  /** The number of processes, including this one. */
  readonly count: number;
  /** Resolves when the other processes have applied the changes, so that a client may read from any of them. */
  announce(topic: string, scopes: readonly string[]): Promise<void>;
  /** Registers the function that applies the changes of the other processes. */
  apply(topic: string, changed: (scope: string) => void): void;
  /** The metrics of all processes, including those that have ended; empty if the supervisor did not reply in time. */
  collect(): Promise<readonly unknown[]>;
  /** Registers the function that returns this process's part of the metrics. */
  reportWith(snapshot: () => unknown): void;
}

/** Messages from a process to the supervisor. */
export type Upward =
  | { readonly kind: 'announce'; readonly id: number; readonly topic: string; readonly scopes: readonly string[] }
  | { readonly kind: 'applied'; readonly id: number }
  | { readonly kind: 'collect'; readonly id: number }
  | { readonly kind: 'snapshot'; readonly id: number; readonly snapshot: unknown }
  | { readonly kind: 'final'; readonly snapshot: unknown };

/** Messages from the supervisor to a process. */
export type Downward =
  | { readonly kind: 'changed'; readonly id: number; readonly topic: string; readonly scopes: readonly string[] }
  | { readonly kind: 'announced'; readonly id: number }
  | { readonly kind: 'report'; readonly id: number }
  | { readonly kind: 'collected'; readonly id: number; readonly snapshots: readonly unknown[] };

/** A process whose event loop is blocked this long serves no stale response meanwhile, so nobody waits for it. */
export const PATIENCE_MS = 250;
/**
 * The supervisor replies as soon as its processes did. It has no work of its own, but on a busy machine it may wait for
 * a core while the processes run, and nothing may go on as if they had been told.
 */
const SUPERVISOR_PATIENCE_MS = 5_000;

interface Batch {
  readonly scopes: Map<string, Set<string>>;
  readonly sent: Promise<void>;
  readonly settle: () => void;
}

/** Talks to the other processes through the supervisor. */
export class SupervisedSiblings implements Siblings {
  readonly count: number;
  readonly #send: (message: Upward) => void;
  #snapshot: () => unknown = () => undefined;
  readonly #appliers = new Map<string, (scope: string) => void>();
  readonly #waiting = new Map<number, (value: readonly unknown[]) => void>();
  #ids = 0;
  #isSending = false;
  #next: Batch | undefined;

  constructor(count: number, send: (message: Upward) => void) {
    this.count = count;
    this.#send = send;
  }

  reportWith(snapshot: () => unknown): void {
    this.#snapshot = snapshot;
  }

  /** Reports the metrics for the last time, before this process ends. */
  leave(): void {
    this.#send({ kind: 'final', snapshot: this.#snapshot() });
  }

  apply(topic: string, changed: (scope: string) => void): void {
    this.#appliers.set(topic, changed);
  }

  /** One batch is under way at a time, and changes that come meanwhile share the next one. */
  announce(topic: string, scopes: readonly string[]): Promise<void> {
    if (scopes.length === 0) return Promise.resolve();
    this.#next ??= newBatch();
    const batch = this.#next;
    const named = batch.scopes.get(topic) ?? new Set<string>();
    for (const scope of scopes) named.add(scope);
    batch.scopes.set(topic, named);
    if (!this.#isSending) void this.#sendBatches();
    return batch.sent;
  }

  async #sendBatches(): Promise<void> {
    this.#isSending = true;
    for (let batch = this.#next; batch; batch = this.#next) {
      this.#next = undefined;
      await Promise.all(
        [...batch.scopes].map(([topic, scopes]) =>
          this.#ask((id) => ({ kind: 'announce', id, topic, scopes: [...scopes] })),
        ),
      );
      batch.settle();
    }
    this.#isSending = false;
  }

  async collect(): Promise<readonly unknown[]> {
    return this.#ask((id) => ({ kind: 'collect', id }));
  }

  /** Resolves with the reply, or with nothing if there is none in time. */
  #ask(message: (id: number) => Upward): Promise<readonly unknown[]> {
    const id = ++this.#ids;
    return new Promise((resolve) => {
      const settle = (value: readonly unknown[]) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(value);
      };
      const timer = setTimeout(() => settle([]), SUPERVISOR_PATIENCE_MS);
      this.#waiting.set(id, settle);
      this.#send(message(id));
    });
  }

  receive(message: Downward): void {
    if (message.kind === 'announced') this.#waiting.get(message.id)?.([]);
    else if (message.kind === 'collected') this.#waiting.get(message.id)?.(message.snapshots);
    else if (message.kind === 'report') this.#send({ kind: 'snapshot', id: message.id, snapshot: this.#snapshot() });
    else if (message.kind === 'changed') {
      const changed = this.#appliers.get(message.topic);
      for (const scope of message.scopes) changed?.(scope);
      this.#send({ kind: 'applied', id: message.id });
    }
  }
}

function newBatch(): Batch {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { scopes: new Map(), sent: promise, settle: resolve };
}
