import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** CPU seconds of a process so far, without its children. The ticks include threads that have ended, and are coarse. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return Math.max((Number(user) + Number(system)) / TICKS_PER_SECOND, secondsOfThreads(pid));
}

function secondsOfThreads(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return nanoseconds / 1e9;
}

/** Keeps all threads of a process on one core, so that moving between cores does not count. False without taskset. */
export const keepOnCore = (pid: number, core: number): boolean =>
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]).status === 0;
