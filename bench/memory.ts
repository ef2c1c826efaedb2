import { readFileSync } from 'node:fs';

export interface Megabytes {
  /** With the process's part of what others share, such as the program itself. */
  readonly pss: number;
  /** As `ps` shows it. */
  readonly rss: number;
  /** What the machine gains if the process ends while others of its kind go on. */
  readonly own: number;
}

export function megabytesOf(pid: number): Megabytes {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)![1]) / 1024;
  return { pss: of('Pss'), rss: of('Rss'), own: of('Private_Clean') + of('Private_Dirty') };
}

export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
