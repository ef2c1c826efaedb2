import fs from 'node:fs';

/** Linux counts CPU time in hundredths of a second, on every architecture of Node.js. */
const ticksPerSecond = 100;

type Entry = { pid: number; parent: number; ticks: number };

/** The CPU time of this process and all its descendants so far, in seconds, including those that have ended. */
export function cpuSecondsOfTree(): number {
  const entries = fs.readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? entryOf(Number(name)) : []));
  const childrenOf = Map.groupBy(entries, ({ parent }) => parent);
  const sum = (pid: number): number =>
    (childrenOf.get(pid) ?? []).reduce((total, child) => total + child.ticks + sum(child.pid), 0);
  const own = entries.find(({ pid }) => pid === process.pid)!;
  return (own.ticks + sum(process.pid)) / ticksPerSecond;
}

/** A process that ended meanwhile is in the time of its parent. */
function entryOf(pid: number): Entry[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return [{ pid, parent: Number(fields[1]), ticks }];
  } catch {
    return [];
  }
}
