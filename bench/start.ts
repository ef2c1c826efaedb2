import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';
import { HEAP } from '../bin/heap.mjs';
import { createDatabase, startPostgres } from '../test/postgres.ts';
import { cpuSeconds } from './cpu.ts';
import { rangeOf } from './figures.ts';
import { childrenOf, type Megabytes, megabytesOf } from './memory.ts';
import { optionsOf } from './options.ts';
import { startSampleService } from './sample-service.ts';
import { stolenDuring, Undisturbed } from './stolen.ts';

const options = optionsOf(
  'bench-start',
  { starts: '7', processes: '2', 'idle-seconds': '10', 'stolen-max': '2' },
  `Starts "serve" with sample content again and again, on both databases, and prints medians with ranges: the time from the
start of one process on one core to its first answer, its CPU time, and the memory of idle processes. It needs taskset.
A start from which the host of the machine took more than --stolen-max percent of the CPU time is repeated.`,
);
const STARTS = Number(options.starts);
const PROCESSES = Number(options.processes);
const PORT = '18443';

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

type Settings = Readonly<Record<string, string>>;

const PROGRAM = new URL('../bin/modstead.mjs', import.meta.url).pathname;

/** As "npm start" starts it on another Node.js. */
function serve(settings: Settings, cores?: string): ChildProcess {
  const command = [process.execPath, PROGRAM, 'serve', '--json'];
  const [program, ...args] = cores === undefined ? command : ['taskset', '-c', cores, ...command];
  const child = spawn(program!, args, {
    env: { ...process.env, ...HEAP, ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.add(child);
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  children.delete(child);
}

const isAnswering = (): Promise<boolean> =>
  new Promise((resolve) => {
    const headers = { host: 'localhost', 'x-forwarded-proto': 'https' };
    get({ host: '127.0.0.1', port: PORT, path: '/v1/ping', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });

interface Start {
  readonly milliseconds: number;
  readonly cpu: number;
  readonly stolen: number;
}

async function oneStart(settings: Settings): Promise<Start> {
  const { result, stolen } = await stolenDuring(async () => {
    const began = performance.now();
    const child = serve(settings, '0');
    while (!(await isAnswering())) await passes(2);
    const milliseconds = performance.now() - began;
    const cpu = cpuSeconds(child.pid!);
    await stop(child);
    return { milliseconds, cpu };
  });
  return { ...result, stolen };
}

/** The memory of each process of a service that has done nothing since its start. */
async function idle(settings: Settings, processes: number): Promise<Megabytes[]> {
  const child = serve({ ...settings, MODSTEAD_PROCESSES: String(processes) });
  await once(child.stdout!, 'data');
  await passes(Number(options['idle-seconds']) * 1_000);
  const pids = processes === 1 ? [child.pid!] : childrenOf(child.pid!);
  const figures = pids.map(megabytesOf);
  await stop(child);
  return figures;
}

async function measure(name: string, database: Settings): Promise<void> {
  const data = join(folder, name);
  const sample = await startSampleService(data, database);
  children.add(sample.process);
  await stop(sample.process);
  const settings = {
    ...{ MODSTEAD_DATA: data, MODSTEAD_PORT: PORT, MODSTEAD_PUBLIC_PORT: '443', MODSTEAD_TRUST_PROXY: '127.0.0.1' },
    ...{ MODSTEAD_PROCESSES: '1', MODSTEAD_LOG: 'error', ...database },
  };
  await oneStart(settings);
  const undisturbed = new Undisturbed(Number(options['stolen-max']));
  const starts: Start[] = [];
  while (starts.length < STARTS) starts.push(await undisturbed.measure(() => oneStart(settings)));
  const of = (key: 'milliseconds' | 'cpu') => starts.map((start) => start[key]);
  console.log(`| ${name}: first answer on one core, ms | ${rangeOf(of('milliseconds'))} |`);
  console.log(`| ${name}: its CPU time, s | ${rangeOf(of('cpu'), 2)} |`);
  const [alone] = await idle(settings, 1);
  console.log(`| ${name}: idle in one process, MB | ${inWords(alone!)} |`);
  const several = await idle(settings, PROCESSES);
  console.log(`| ${name}: idle in each of ${PROCESSES}, MB | ${several.map(inWords).join('; ')} |`);
  console.log(`${undisturbed}.`);
}

const inWords = ({ rss, pss, own }: Megabytes) =>
  `${rss.toFixed(0)}, of which ${own.toFixed(0)} are its own; ${pss.toFixed(0)} with its part of what processes share`;

console.log('| figure | median (lowest to highest) |\n|---|---|');
await measure('sqlite', {});
const server = await startPostgres({ durable: true });
await measure('postgres', { MODSTEAD_DATABASE_URL: await createDatabase(server.url, `modstead_start_${process.pid}`) });
await server.stop();
process.exit(0);
