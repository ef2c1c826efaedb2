/** The CPU time of the main thread so far, in milliseconds. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const PAGE = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `Example ${id}` })));
/** The time to parse the page on the reference machine, on which the bound is 50 ms. */
const PAGE_MS = 10;

/** The CPU time of this machine relative to the reference machine, for the same work. */
export function relativeCpuTime(): number {
  const runs = Array.from({ length: 9 }, () => {
    const begun = usedMs();
    JSON.parse(PAGE);
    return usedMs() - begun;
  });
  return Math.max(1, runs.sort((a, b) => a - b)[4]! / PAGE_MS);
}

const ATTEMPTS = 12;

/** The minimum over several attempts, which excludes garbage collection and neighbours on the same core. */
async function leastOf(boundMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > boundMs; attempt += 1) least = Math.min(least, await measure());
  return least;
}

/** The CPU time of the whole work. */
export const leastCpuMs = (boundMs: number, work: () => Promise<unknown>): Promise<number> =>
  leastOf(boundMs, async () => {
    const begun = usedMs();
    await work();
    return usedMs() - begun;
  });

/** The CPU time of the longest event-loop iteration during the work: no other request is served meanwhile. */
export const longestIterationMs = (boundMs: number, work: () => Promise<unknown>): Promise<number> =>
  leastOf(boundMs, async () => {
    let longest = 0;
    let isDone = false;
    let last = usedMs();
    const look = () => {
      const now = usedMs();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isDone) setImmediate(look);
    };
    setImmediate(look);
    try {
      await work();
    } finally {
      isDone = true;
    }
    return longest;
  });
