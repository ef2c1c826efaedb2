import type { Changes, Scope } from './database.ts';

/** Resolves when there may be something to read. Several changes can share one wake-up. */
export class News {
  #next = Promise.withResolvers<void>();
  readonly stop: () => void;

  /** An undefined scope stands for any, as after a lost connection. */
  constructor(changes: Changes, concerns: (scope: Scope) => boolean, signal: AbortSignal) {
    const tell = () => this.#next.resolve();
    const unlisten = changes.listen((scope) => {
      if (scope === undefined || concerns(scope)) tell();
    });
    signal.addEventListener('abort', tell);
    this.stop = () => {
      unlisten();
      signal.removeEventListener('abort', tell);
    };
  }

  /** Called before reading, so that a commit in between is not missed. */
  next(): Promise<void> {
    this.#next = Promise.withResolvers();
    return this.#next.promise;
  }
}
