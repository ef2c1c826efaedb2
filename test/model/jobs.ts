import { composeWorker } from '../../src/composition/compose.ts';
import type { App } from '../../src/platform/app.ts';

/** Runs the jobs that are due. Histories that ask at the same time share a run. */
export class Jobs {
  readonly #app: App;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<unknown> | undefined;

  constructor(app: App) {
    this.#app = app;
  }

  /** A run that has begun may have passed a job that was added since, so it waits for the next one. */
  run(): Promise<unknown> {
    this.#next ??= this.#running.then(() => {
      this.#running = this.#next!;
      this.#next = undefined;
      return composeWorker(this.#app).runDue();
    });
    return this.#next;
  }
}
