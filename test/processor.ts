/** What the thread that answers requests has used of its processor so far, in milliseconds. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const PAGE = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `Example ${id}` })));
/** What reading the page takes on the machine on which 50 ms is the bound. */
const PAGE_MS = 10;

/** How many of our milliseconds this machine needs for one: a slow or busy one uses more of its processor for the same. */
export function slowness(): number {
  const runs = Array.from({ length: 9 }, () => {
    const begun = usedMs();
    JSON.parse(PAGE);
    return usedMs() - begun;
  });
  return Math.max(1, runs.sort((a, b) => a - b)[4]! / PAGE_MS);
}

const ATTEMPTS = 4;

/** The least that some work takes: what it meets by chance, such as a collection of garbage, it does not meet each time. */
async function leastOf(boundMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > boundMs; attempt += 1) least = Math.min(least, await measure());
  return least;
}

/** What some work takes in all. */
export const leastMs = (boundMs: number, work: () => Promise<unknown>): Promise<number> =>
  leastOf(boundMs, async () => {
    const begun = usedMs();
    await work();
    return usedMs() - begun;
  });

/** What the longest turn of the event loop takes while some work is done: for so long nobody else was served. */
export const longestTurnMs = (boundMs: number, work: () => Promise<unknown>): Promise<number> =>
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
