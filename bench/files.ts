import { type ChildProcess, type ForkOptions, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuSeconds } from './cpu.ts';
import { median } from './figures.ts';
import { steadyLoad } from './load.ts';
import { startNginx } from './nginx.ts';
import type { Task } from './peer.ts';

/** Many times the peak request rate of a small community. */
const PER_SECOND = 500;

const { values: options } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    beside: { type: 'string', default: '' },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`npm run bench-files [-- --megabytes 128 --rounds 3 --only downloads|uploads|browsing --beside PATTERN]
Measures transfers over TLS on this machine, each beside its baseline in one interleaved run, with clients in their own
processes:
- downloads: eight clients download a file from this service and from nginx (skipped if nginx is not installed);
- uploads: clients upload a file to this service and to a bare node:https stream that hashes and writes it;
- browsing: the latency of ${PER_SECOND} reads per second while four transfers run, in the same process and in another one,
  relative to no transfer. The transfers run at the speed of a gigabit line, and as fast as they can; --beside names those to
  measure. Clients of transfers get only idle CPU time and readers get priority
  (chrt, as root), because real clients run on other machines. The baseline is a bare node:http server beside nginx and beside
  a bare node:https.
docs/performance.md shows results with --megabytes 1024.`);
  process.exit(0);
}
const MEGABYTE = 1024 * 1024;
const GIGABYTE = 1024 * MEGABYTE;
const BYTES = Number(options.megabytes) * MEGABYTE;
const ROUNDS = Number(options.rounds);
const READERS = 8;
const WRITERS = 4;
const BROWSE_MS = 4_000;
const GIGABIT_BYTES = 118_000_000;
const beside = new RegExp(options.beside);
const wants = (what: string) => options.only === undefined || options.only === what;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('SIGTERM', () => process.exit(1));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Whether the scheduling policy of processes can be set; without it all have the same priority. */
const canSchedule = spawnSync('chrt', ['--version']).status === 0;

/** Starts a process that gets only idle CPU time. */
const startIdle = (file: string) =>
  start(
    file,
    {},
    canSchedule ? { execPath: 'chrt', execArgv: ['--idle', '0', process.execPath, ...process.execArgv] } : {},
  );

async function start<T>(
  file: string,
  env: Record<string, string> = {},
  options: ForkOptions = {},
): Promise<{ process: ChildProcess } & T> {
  const child = fork(join(import.meta.dirname, file), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...options,
  });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve({ process: child, ...(message as T) }));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}

const ask = <T>(child: ChildProcess, message: object): Promise<T> =>
  new Promise((resolve) => {
    child.once('message', (answer) => resolve(answer as T));
    child.send(message);
  });

type Service = { port: number; uploadPort: number; path: string; file: string; page: string };
const startService = (data: string) =>
  start<Service>('files-service.ts', {
    BENCH_FOLDER: folder,
    BENCH_BYTES: String(BYTES),
    MODSTEAD_DATA: join(folder, data),
    MODSTEAD_PORT: '0',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
  });
const service = await startService('data');
const other = wants('browsing') ? await startService('other-data') : undefined;
const bare = await start<{ port: number }>('bare.ts', { BENCH_FOLDER: folder });
const raw = await start<{ port: number }>('raw.ts');
const peer = await start('peer.ts');
const transfer = (task: Partial<Task>) =>
  ask<{ bytes: number; seconds: number; cipher: string }>(peer.process, {
    clients: 1,
    times: 1,
    bytes: BYTES,
    ...task,
  });

const cpuOf = async (child: ChildProcess) => {
  const { user, system } = await ask<NodeJS.CpuUsage>(child, {});
  return (user + system) / 1e6;
};

const ciphers = new Map<string, string>();
const results = new Map<string, { cpuPerGigabyte: number; megabytesPerSecond: number }[]>();
async function measured(name: string, cpu: () => Promise<number> | number, task: Partial<Task>): Promise<void> {
  const before = await cpu();
  const { bytes, seconds, cipher } = await transfer(task);
  ciphers.set(name, cipher);
  const used = (await cpu()) - before;
  const metrics = { cpuPerGigabyte: used / (bytes / GIGABYTE), megabytesPerSecond: bytes / MEGABYTE / seconds };
  results.set(name, [...(results.get(name) ?? []), metrics]);
}

const page = Buffer.from(
  `GET ${service.page} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n\r\n`,
);
await ask(raw.process, {
  url: service.page,
  headers: ['content-type', 'application/json', 'content-length', '4096'],
  body: Buffer.alloc(4096, 'x').toString('base64'),
});

/** Sets the scheduling policy of this process; a higher priority needs root. */
function schedule(...how: readonly string[]): void {
  if (canSchedule) spawnSync('chrt', [...how, '--pid', how[0] === '--fifo' ? '1' : '0', String(process.pid)]);
}

/** Real readers run on other machines, so the readers get priority: the latency shows the service, not a queue for a core. */
async function p99(port: number): Promise<number> {
  schedule('--fifo', '--reset-on-fork');
  const latencies = await steadyLoad({ port, request: page, perSecond: PER_SECOND, milliseconds: BROWSE_MS });
  schedule('--other');
  return latencies[Math.floor(latencies.length * 0.99)]!;
}

const loopDelay = async (delays: 'start' | 'stop') =>
  (await ask<{ loopDelayMs: number }>(service.process, { delays })).loopDelayMs;

const browsing = new Map<string, { idle: number; busy: number; loopDelay: number; megabytesPerSecond: number }[]>();
/** Measures idle and busy in direct succession, because the load of a shared machine changes. */
async function browsed(name: string, port: number, task: Partial<Task>): Promise<void> {
  if (!beside.test(name)) return;
  const idle = await p99(port);
  const four = await startIdle('peer.ts');
  four.process.send({ clients: WRITERS, times: 1_000, bytes: BYTES, ...task });
  await wait(500);
  const megabytes = async () => (await ask<{ moved: number }>(four.process, {})).moved / MEGABYTE;
  const before = await megabytes();
  const began = performance.now();
  await loopDelay('start');
  const busy = await p99(port);
  const delay = await loopDelay('stop');
  const megabytesPerSecond = ((await megabytes()) - before) / ((performance.now() - began) / 1000);
  four.process.kill();
  browsing.set(name, [...(browsing.get(name) ?? []), { idle, busy, loopDelay: delay, megabytesPerSecond }]);
}

const nginx = await startNginx(folder, `default_type application/zip; root ${dirname(service.path)};`);
if (!nginx) console.log('nginx cannot be started here (Debian: apt-get install nginx-light); its row is left out.');
console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; ${options.megabytes} MiB, ${ROUNDS} rounds`,
);
const downloadFrom = ({ port, file }: Service) => ({ kind: 'read', port, path: file }) as const;
const uploadTo = ({ uploadPort }: Service) => ({ kind: 'write', port: uploadPort, path: '/v1/receive' }) as const;
const ofService = downloadFrom(service);
const ofNginx = nginx && { kind: 'read' as const, port: nginx.port, path: `/${service.path.split('/').at(-1)}` };
const toService = uploadTo(service);
const paced = { bytesPerSecond: GIGABIT_BYTES / WRITERS };
for (let round = 0; round <= ROUNDS; round += 1) {
  if (wants('downloads')) {
    await measured('download', () => cpuOf(service.process), { ...ofService, clients: READERS });
    if (nginx && ofNginx)
      await measured('download from nginx', () => cpuSeconds(nginx.process.pid!), { ...ofNginx, clients: READERS });
  }
  if (wants('uploads')) {
    await measured('upload', () => cpuOf(service.process), toService);
    await measured('upload, bare', () => cpuOf(bare.process), { kind: 'write', port: bare.port, path: '/' });
  }
  if (wants('browsing')) {
    await browsed('four downloads, a gigabit', service.port, { ...ofService, ...paced });
    await browsed('four uploads, a gigabit', service.port, { ...toService, ...paced });
    await browsed('four downloads, unpaced', service.port, ofService);
    await browsed('four uploads, unpaced', service.port, toService);
    await browsed('four downloads from another process, a gigabit', service.port, {
      ...downloadFrom(other!),
      ...paced,
    });
    await browsed('four uploads to another process, a gigabit', service.port, { ...uploadTo(other!), ...paced });
    await browsed('four downloads from another process, unpaced', service.port, downloadFrom(other!));
    await browsed('four uploads to another process, unpaced', service.port, uploadTo(other!));
    const toBare = { kind: 'write', port: bare.port, path: '/' } as const;
    await browsed('bare node:http, node:https receives a gigabit', raw.port, { ...toBare, ...paced });
    // Shows which of the two, reading or receiving, costs the time.
    await browsed('bare node:http, another service receives a gigabit', raw.port, { ...uploadTo(other!), ...paced });
    await browsed('service, node:https receives a gigabit', service.port, { ...toBare, ...paced });
    if (ofNginx) {
      await browsed('bare node:http, nginx sends a gigabit', raw.port, { ...ofNginx, ...paced });
      await browsed('bare node:http, nginx sends unpaced', raw.port, ofNginx);
    }
  }
  console.log(round === 0 ? 'warmed up' : `round ${round} of ${ROUNDS} done`);
}

// The first round includes JIT compilation and is not counted.
const rounds = (name: string) => results.get(name)!.slice(1);
const isMeasured = (name: string) => results.has(name);
if (results.size > 0) console.log('\n| what | CPU seconds per GiB | MiB per second | TLS |\n|---|---|---|---|');
for (const name of results.keys()) {
  const cpu = median(rounds(name).map((round) => round.cpuPerGigabyte));
  const speed = median(rounds(name).map((round) => round.megabytesPerSecond));
  console.log(`| ${name} | ${cpu.toFixed(3)} | ${Math.round(speed)} | ${ciphers.get(name)} |`);
}
if (browsing.size > 0)
  console.log(
    '\n| browsing beside | p99 idle, ms | p99 busy, ms | ratio (goal ≤ 2, beside another process ≤ 1.5) | p99 of the event-loop delay, ms | MiB per second of the four |\n|---|---|---|---|---|---|',
  );
for (const [name, all] of browsing) {
  const of = (metric: (round: (typeof all)[0]) => number) => median(all.slice(1).map(metric)).toFixed(2);
  const ratio = of(({ idle, busy }) => busy / idle);
  const metrics = [of(({ idle }) => idle), of(({ busy }) => busy), ratio, of((round) => round.loopDelay)];
  const speed = median(all.slice(1).map((round) => round.megabytesPerSecond));
  console.log(`| ${name} | ${metrics.join(' | ')} | ${Math.round(speed)} |`);
}
const ratio = (one: string, other: string, metric: 'cpuPerGigabyte' | 'megabytesPerSecond') =>
  median(rounds(one).map((round, i) => round[metric] / rounds(other)[i]![metric]));
const goals: [string, string, 'cpuPerGigabyte' | 'megabytesPerSecond', string][] = [
  ['download', 'download from nginx', 'cpuPerGigabyte', 'CPU of a download / nginx (goal ≤ 1.0)'],
  ['upload', 'upload, bare', 'megabytesPerSecond', 'speed of an upload / bare (goal ≥ 0.7)'],
  ['upload', 'upload, bare', 'cpuPerGigabyte', 'CPU of an upload / bare'],
];
console.log('');
for (const [one, other, metric, text] of goals)
  if (isMeasured(one) && isMeasured(other)) console.log(`${text}: ${ratio(one, other, metric).toFixed(3)}`);
// The folder can be removed only after the processes that write to it have ended.
for (const child of [service.process, other?.process, bare.process, raw.process, peer.process, nginx?.process]) {
  if (!child) continue;
  const over = once(child, 'exit');
  child.removeAllListeners('message').kill();
  await over;
}
process.exit(0);
