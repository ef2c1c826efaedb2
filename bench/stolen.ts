import { readFileSync } from 'node:fs';

/** A host that is busy for longer is not waited for. */
const ATTEMPTS_MAX = 20;

interface Times {
  readonly all: number;
  readonly stolen: number;
}

/** The CPU times of the machine so far. Systems other than Linux do not tell which part the host took. */
function machineTimes(): Times {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const times = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
  } catch {
    return { all: 0, stolen: 0 };
  }
}

/** The percentage of the machine's CPU time that its host gives to other machines during the work. */
export async function stolenDuring<T>(work: () => Promise<T>): Promise<{ result: T; stolen: number }> {
  const before = machineTimes();
  const result = await work();
  const after = machineTimes();
  return { result, stolen: (100 * (after.stolen - before.stolen)) / Math.max(1, after.all - before.all) };
}

/**
 * Repeats measurements from which the host of a virtual machine took more than this percentage of the CPU time: what is
 * left runs slower, too, because others use the same caches. Of many such it keeps the one that lost least.
 */
export class Undisturbed {
  readonly #percentMax: number;
  #discarded = 0;
  #most = 0;

  constructor(percentMax: number) {
    this.#percentMax = percentMax;
  }

  async measure<T extends { readonly stolen: number }>(once: () => Promise<T>): Promise<T> {
    let best = await once();
    for (let attempt = 1; best.stolen > this.#percentMax && attempt < ATTEMPTS_MAX; attempt += 1) {
      this.#discarded += 1;
      const next = await once();
      if (next.stolen < best.stolen) best = next;
    }
    this.#most = Math.max(this.#most, best.stolen);
    return best;
  }

  toString(): string {
    return `The host took at most ${this.#most.toFixed(1)} % of the CPU time of a measurement; ${this.#discarded} measurements were repeated`;
  }
}
