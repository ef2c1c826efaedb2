import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, startPostgres } from '../test/postgres.ts';
import { cpuSeconds } from './cpu.ts';
import { rangeOf } from './figures.ts';
import { load } from './load.ts';
import { childrenOf, megabytesOf } from './memory.ts';
import { optionsOf } from './options.ts';
import { startSampleService } from './sample-service.ts';

const options = optionsOf(
  'bench-processes',
  { rounds: '5', milliseconds: '2000', processes: '2' },
  `Measures "serve" in one and in several processes, interleaved, on both databases: cached reads alone and beside writers.
Capacity is the sum over all processes of requests per second of their own CPU time, that is, what they answer with a core
each, whatever the load generator and other programs take. Each process has 32 readers: those that arrive together cost less
each. Prints medians, and the memory of the idle processes.`,
);
const ROUNDS = Number(options.rounds);
const MILLISECONDS = Number(options.milliseconds);
const READERS_PER_PROCESS = 32;
const WRITERS = 8;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Service {
  readonly port: number;
  readonly key: string;
  readonly token: string;
  /** The processes that answer requests. */
  readonly pids: readonly number[];
  readonly supervisor: number | undefined;
}

async function start(name: string, processes: number, database: Record<string, string>): Promise<Service> {
  const started = await startSampleService(join(folder, name), {
    MODSTEAD_PROCESSES: String(processes),
    ...database,
  });
  const { process: child, port, key, run } = started;
  children.add(child);
  const { access_token } = JSON.parse(run('token', 'add', '--user', '1', '--json')) as { access_token: string };
  const pids = processes === 1 ? [child.pid!] : childrenOf(child.pid!);
  return { port, key, token: access_token, pids, supervisor: processes > 1 ? child.pid : undefined };
}

const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n${more}\r\n`;
let edits = 0;
function edit({ token }: Service): Buffer {
  edits += 1;
  const body = `summary=Edited+${edits}+times+for+a+measurement`;
  const more = `authorization: Bearer ${token}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n`;
  return Buffer.from(head('PUT', '/v1/games/1', more) + body);
}

interface Figures {
  /** Reads per second of CPU time, summed over the processes. */
  readonly capacity: number;
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly writes: number;
  readonly p99Ms: number;
}

async function measure(service: Service, writers: number): Promise<Figures> {
  const read = Buffer.from(head('GET', `/v1/games/2?api_key=${service.key}`));
  const before = service.pids.map(cpuSeconds);
  const [reads, writes] = await Promise.all([
    load({
      port: service.port,
      connections: READERS_PER_PROCESS * service.pids.length,
      milliseconds: MILLISECONDS,
      requests: () => read,
    }),
    load({
      port: service.port,
      connections: writers,
      milliseconds: writers > 0 ? MILLISECONDS : 0,
      requests: () => edit(service),
    }),
  ]);
  const cpu = service.pids.map((pid, i) => cpuSeconds(pid) - before[i]!).reduce((sum, seconds) => sum + seconds, 0);
  return {
    capacity: (reads.answers / cpu) * service.pids.length,
    cpuMs: (cpu / reads.answers) * 1000,
    perSecond: reads.answers / reads.seconds,
    writes: writers > 0 ? writes.answers / writes.seconds : 0,
    p99Ms: reads.latencies.sort((a, b) => a - b)[Math.floor(reads.latencies.length * 0.99)]!,
  };
}

async function compare(name: string, database: (name: string) => Promise<Record<string, string>>): Promise<void> {
  const many = Number(options.processes);
  const services = [
    await start(`${name}-1`, 1, await database('one')),
    await start(`${name}-n`, many, await database('many')),
  ];
  await new Promise((idle) => setTimeout(idle, 3_000));
  for (const { pids, supervisor } of services) {
    const sizes = pids.map(megabytesOf).map(({ pss, rss }) => `${pss.toFixed(0)} (RSS ${rss.toFixed(0)})`);
    const top = supervisor === undefined ? '' : `, supervisor ${megabytesOf(supervisor).pss.toFixed(0)}`;
    console.log(`${name}, ${pids.length} process(es), MB idle: ${sizes.join(', ')}${top}`);
  }
  for (const writers of [0, WRITERS]) {
    const rounds: Figures[][] = services.map(() => []);
    for (const service of services) await measure(service, writers);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [i, service] of services.entries()) rounds[i]!.push(await measure(service, writers));
    for (const [i, figures] of rounds.entries()) {
      const of = (key: keyof Figures, digits?: number) =>
        rangeOf(
          figures.map((each) => each[key]),
          digits,
        );
      console.log(
        `${name}, ${services[i]!.pids.length} process(es), ${writers} writers: capacity ${of('capacity')}/s, CPU ${of('cpuMs', 3)} ms, measured ${of('perSecond')}/s, p99 ${of('p99Ms', 1)} ms, writes ${of('writes')}/s`,
      );
    }
    const ratios = rounds[0]!.map((one, i) => rounds[1]![i]!.capacity / one.capacity);
    console.log(`${name}, ${writers} writers: capacity of ${many} processes / 1: ${rangeOf(ratios, 2)}`);
  }
}

const postgres = await startPostgres();
let databases = 0;
await compare('postgres', async () => {
  databases += 1;
  return { MODSTEAD_DATABASE_URL: await createDatabase(postgres.url, `processes_${process.pid}_${databases}`) };
});
await compare('sqlite', async () => ({}));
await postgres.stop();
process.exit(0);
