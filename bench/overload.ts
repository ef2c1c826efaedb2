import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createDatabase, startPostgres } from '../test/postgres.ts';
import { startBaseline } from './baseline.ts';
import { cpuSeconds } from './cpu.ts';
import { median, rangeOf } from './figures.ts';
import type { Probe } from './health-prober.ts';
import { optionsOf } from './options.ts';
import { startSampleService } from './sample-service.ts';

const options = optionsOf(
  'bench-overload',
  { rounds: '3', milliseconds: '4000', readers: '1000' },
  `Measures one process with 32 readers on connections that stay open, and with many, interleaved: cached reads on SQLite,
and uncached searches on PostgreSQL from as many addresses and from one address. Beside the readers another process checks
health on new connections. A bare node:http is measured in the same way. Prints answers per second of the service's CPU
time, the ratio of the two, refusals, how long health checks took, and the memory of the service.`,
);
const ROUNDS = Number(options.rounds);
const MILLISECONDS = Number(options.milliseconds);
const READERS = Number(options.readers);
const READERS_BEST = 32;
const WARM_UP_MS = 2_000;

const get = (path: string, address = '') =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n${address && `x-forwarded-for: ${address}\r\n`}\r\n`;

interface Service {
  readonly pid: number;
  readonly port: number;
}

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
const children = new Set<ChildProcess>();

async function start(name: string, settings: Record<string, string>): Promise<Service & { key: string }> {
  const { process: child, port, key } = await startSampleService(join(folder, name), settings);
  children.add(child);
  return { pid: child.pid!, port, key };
}

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);

interface Readers {
  readonly answers: Map<string, number>;
  end(): void;
}

/** Each connection sends the next request when the response to the previous one is complete. */
function startReaders({ port }: Service, count: number, request: (index: number) => string): Readers {
  const answers = new Map<string, number>();
  const sockets = Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.from(request(index));
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let missing = 0;
    socket.on('connect', () => socket.write(bytes));
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      if (missing === 0) {
        const gap = chunk.indexOf('\r\n\r\n');
        const head = chunk.toString('latin1', 0, gap);
        const status = head.slice(9, 12);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        missing = gap + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      }
      missing -= chunk.length;
      if (missing === 0) socket.write(bytes);
    });
    return socket;
  });
  return { answers, end: () => sockets.forEach((socket) => void socket.destroy()) };
}

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
const collect = (prober: ChildProcess) =>
  new Promise<Probe[]>((resolve) => {
    prober.once('message', (probes) => resolve(probes as Probe[]));
    prober.send('collect');
  });

interface Figures {
  readonly perCpuSecond: number;
  readonly refused: number;
  readonly probes: readonly Probe[];
}

async function measure(
  service: Service,
  prober: ChildProcess,
  readers: number,
  request: (index: number) => string,
): Promise<Figures> {
  const { answers, end } = startReaders(service, readers, request);
  await wait(WARM_UP_MS);
  answers.clear();
  await collect(prober);
  const before = cpuSeconds(service.pid);
  await wait(MILLISECONDS);
  const cpu = cpuSeconds(service.pid) - before;
  const counted = new Map(answers);
  end();
  const ok = counted.get('200') ?? 0;
  const all = [...counted.values()].reduce((sum, count) => sum + count, 0);
  return { perCpuSecond: ok / cpu, refused: all - ok, probes: await collect(prober) };
}

async function compare(name: string, service: Service, request: (index: number) => string): Promise<void> {
  const prober = fork(join(import.meta.dirname, 'health-prober.ts'), [String(service.port)]);
  children.add(prober);
  await measure(service, prober, READERS_BEST, request);
  const megabytes = [residentMb(service.pid)];
  const few: Figures[] = [];
  const many: Figures[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    few.push(await measure(service, prober, READERS_BEST, request));
    many.push(await measure(service, prober, READERS, request));
  }
  megabytes.push(residentMb(service.pid));
  await wait(10_000);
  megabytes.push(residentMb(service.pid));
  prober.kill();
  for (const [readers, figures] of [
    [READERS_BEST, few],
    [READERS, many],
  ] as const) {
    const probes = figures.flatMap((each) => each.probes);
    const slowest = probes.map(({ ms }) => ms);
    const statuses = [...new Set(probes.map(({ status }) => status))].join(', ');
    console.log(
      `${name}, ${readers} readers: ${rangeOf(
        figures.map((each) => each.perCpuSecond),
        0,
      )} answers per CPU second, ${figures.map((each) => each.refused).join(' + ')} refused; ${probes.length} health checks (${statuses}), median ${median(slowest).toFixed(0)} ms, slowest ${Math.max(...slowest).toFixed(0)} ms`,
    );
  }
  const ratios = many.map((each, i) => each.perCpuSecond / few[i]!.perCpuSecond);
  console.log(
    `${name}: ${READERS} / ${READERS_BEST} readers: ${rangeOf(ratios, 2)}; MB before, after, 10 s later: ${megabytes.join(', ')}`,
  );
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
const cached = await start('sqlite', {});
const game = `/v1/games/1?api_key=${cached.key}`;
const bare = await startBaseline();
children.add(bare.process);
for (const path of [game, '/healthz', '/readyz']) await bare.learn(cached.port, path);
await compare('bare node:http', { pid: bare.process.pid!, port: bare.port }, () => get(game));
await compare('SQLite, cached', cached, () => get(game));
const postgres = await startPostgres();
const uncached = await start('postgres', {
  MODSTEAD_DATABASE_URL: await createDatabase(postgres.url, `overload_${process.pid}`),
  MODSTEAD_CACHE_MB: '0',
});
// Single objects are kept in memory, but a search asks the database.
const search = `/v1/games/1/mods?api_key=${uncached.key}&_q=river`;
await compare('PostgreSQL, many addresses', uncached, (i) => get(search, `10.0.${i >> 8}.${i & 255}`));
await compare('PostgreSQL, one address', uncached, () => get(search));
await postgres.stop();
process.exit(0);
