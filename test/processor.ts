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
export async function leastMs(boundMs: number, work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least > boundMs; attempt += 1) {
    const begun = usedMs();
    await work();
    least = Math.min(least, usedMs() - begun);
  }
  return least;
}
