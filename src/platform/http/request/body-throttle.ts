import { type TransferScheduler, transferScheduler } from '../transfer-scheduler.ts';

/** Total bytes that request bodies may deliver per event-loop tick. */
const BYTES_PER_TICK = 32 * 1024;

/**
 * Limits the bytes of request bodies per event-loop tick. Otherwise a fast line delivers megabytes in one tick and
 * delays all other requests; throttled bytes wait in the socket.
 */
export class BodyThrottle {
  readonly #scheduler: TransferScheduler;
  #left = BYTES_PER_TICK;
  #isCounting = false;

  constructor(scheduler: TransferScheduler) {
    this.#scheduler = scheduler;
  }

  /** Counts a chunk. When it returns true the caller must pause its stream until `resume` is called. */
  mustPause(bytes: number, resume: () => void): boolean {
    this.#left -= bytes;
    this.#count();
    if (this.#left > 0) return false;
    this.#scheduler.schedule(() => {
      this.#left = BYTES_PER_TICK;
      resume();
    });
    return true;
  }

  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(this.#begin);
  }

  /** An exhausted budget is reset when a paused body resumes. */
  readonly #begin = (): void => {
    this.#isCounting = false;
    if (this.#left > 0) this.#left = BYTES_PER_TICK;
  };
}

/** One instance, because there is one event loop. */
export const bodyThrottle = new BodyThrottle(transferScheduler);
