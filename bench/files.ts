import { type ChildProcess, execFileSync, type ForkOptions, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { steadyLoad } from './load.ts';
import type { Task } from './peer.ts';

/** What a small community does in its busiest minute, many times over. */
const PER_SECOND = 500;

const { values: options } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`npm run bench-files [-- --megabytes 128 --rounds 3 --only downloads|uploads|browsing]
Measures transfers over TLS on this machine, each beside its yardstick in one interleaved run, with clients in processes
of their own:
- a file that eight clients download from this service and from nginx (left out where there is none);
- a file that is uploaded to this service and to a bare node:https stream that hashes and writes;
- how long readers of a game wait, asked for ${PER_SECOND} times a second, while four transfers run, against nothing else
  running: at the pace of a line of a gigabit, and as fast as they can. The clients of the transfers run only
  where nobody else wants to, and the readers before all others (both by chrt, as root), as real ones are other machines:
  neither takes a processor from the service, nor waits for one that the service has. Beside it stands what the machine
  alone makes of it: the same readers of a bare node:http server while nginx sends the four downloads.
1024 megabytes give the figures that the documentation tells.`);
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
const wants = (what: string) => options.only === undefined || options.only === what;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('SIGTERM', () => process.exit(1));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Whether processes can be told when to run; without it they all share alike. */
const canSchedule = spawnSync('chrt', ['--version']).status === 0;

/** A process that runs only where no other wants to. */
const startAside = (file: string) =>
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
const service = await start<Service>('files-service.ts', {
  BENCH_FOLDER: folder,
  BENCH_BYTES: String(BYTES),
  MODSTEAD_DATA: join(folder, 'data'),
  MODSTEAD_PORT: '0',
  MODSTEAD_PUBLIC_PORT: '443',
  MODSTEAD_RATE_LIMITS: 'off',
  MODSTEAD_TRUST_PROXY: '127.0.0.1',
});
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

/** nginx as Debian sets it up, with one worker; undefined where it is not installed or not allowed to start. */
async function startNginx(path: string) {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
events { worker_connections 768; }
http { access_log off; sendfile on; tcp_nopush on; types_hash_max_size 2048; default_type application/zip;
client_body_temp_path ${folder}/n1; proxy_temp_path ${folder}/n2; fastcgi_temp_path ${folder}/n3;
uwsgi_temp_path ${folder}/n4; scgi_temp_path ${folder}/n5;
server { listen 127.0.0.1:${port} ssl; ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
ssl_protocols TLSv1.2 TLSv1.3; root ${dirname(path)}; } }\n${process.getuid?.() === 0 ? 'user root;\n' : ''}`,
  );
  const nginx = spawn('nginx', ['-c', file], { stdio: 'ignore' });
  process.on('exit', () => nginx.kill());
  const isUp = await Promise.race([
    new Promise<boolean>((resolve) => nginx.once('error', () => resolve(false)).once('exit', () => resolve(false))),
    wait(1_000, true),
  ]);
  return isUp ? { process: nginx, port } : undefined;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Seconds of CPU time of a process and its children, which the kernel counts in ticks. */
function ticksOf(pid: number): number {
  const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (Number(name) === pid || Number(fields[1]) === pid) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended between the two looks.
    }
  }
  return ticks / ticksPerSecond;
}

const ciphers = new Map<string, string>();
const results = new Map<string, { cpuPerGigabyte: number; megabytesPerSecond: number }[]>();
async function measured(name: string, cpu: () => Promise<number> | number, task: Partial<Task>): Promise<void> {
  const before = await cpu();
  const { bytes, seconds, cipher } = await transfer(task);
  ciphers.set(name, cipher);
  const used = (await cpu()) - before;
  const figures = { cpuPerGigabyte: used / (bytes / GIGABYTE), megabytesPerSecond: bytes / MEGABYTE / seconds };
  results.set(name, [...(results.get(name) ?? []), figures]);
}

const page = Buffer.from(
  `GET ${service.page} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n\r\n`,
);
await ask(raw.process, {
  url: service.page,
  headers: ['content-type', 'application/json', 'content-length', '4096'],
  body: Buffer.alloc(4096, 'x').toString('base64'),
});

/** How the system hands this process a processor; to come before others takes root. */
function schedule(...how: readonly string[]): void {
  if (canSchedule) spawnSync('chrt', [...how, '--pid', how[0] === '--fifo' ? '1' : '0', String(process.pid)]);
}

/** Readers are other machines as well: what they wait for is the service, and not a processor for their own clock. */
async function p99(port: number): Promise<number> {
  schedule('--fifo', '--reset-on-fork');
  const latencies = await steadyLoad({ port, request: page, perSecond: PER_SECOND, milliseconds: BROWSE_MS });
  schedule('--other');
  return latencies[Math.floor(latencies.length * 0.99)]!;
}

const loopDelay = async (delays: 'start' | 'stop') =>
  (await ask<{ loopDelayMs: number }>(service.process, { delays })).loopDelayMs;

const browsing = new Map<string, { idle: number; busy: number; loopDelay: number; megabytesPerSecond: number }[]>();
/** Idle and busy follow each other at once, as a machine that others use is never the same for long. */
async function browsed(name: string, port: number, task: Partial<Task>): Promise<void> {
  const idle = await p99(port);
  const four = await startAside('peer.ts');
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

const nginx = await startNginx(service.path);
if (!nginx) console.log('nginx cannot be started here (Debian: apt-get install nginx-light); its row is left out.');
console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; ${options.megabytes} MiB, ${ROUNDS} rounds`,
);
const ofService = { kind: 'read', port: service.port, path: service.file } as const;
const ofNginx = nginx && { kind: 'read' as const, port: nginx.port, path: `/${service.path.split('/').at(-1)}` };
const toService = { kind: 'write', port: service.uploadPort, path: '/v1/receive' } as const;
const paced = { bytesPerSecond: GIGABIT_BYTES / WRITERS };
for (let round = 0; round <= ROUNDS; round += 1) {
  if (wants('downloads')) {
    await measured('download', () => cpuOf(service.process), { ...ofService, clients: READERS });
    if (nginx && ofNginx)
      await measured('download from nginx', () => ticksOf(nginx.process.pid!), { ...ofNginx, clients: READERS });
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
    if (ofNginx) {
      await browsed('bare node:http, nginx sends a gigabit', raw.port, { ...ofNginx, ...paced });
      await browsed('bare node:http, nginx sends unpaced', raw.port, ofNginx);
    }
  }
  console.log(round === 0 ? 'warmed up' : `round ${round} of ${ROUNDS} done`);
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
// The first round of a process is the compiler's: it is not counted.
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
    '\n| browsing beside | p99 idle, ms | p99 busy, ms | ratio (goal ≤ 2) | p99 of the loop’s delay, ms | MiB per second of the four |\n|---|---|---|---|---|---|',
  );
for (const [name, all] of browsing) {
  const of = (figure: (round: (typeof all)[0]) => number) => median(all.slice(1).map(figure)).toFixed(2);
  const ratio = of(({ idle, busy }) => busy / idle);
  const figures = [of(({ idle }) => idle), of(({ busy }) => busy), ratio, of((round) => round.loopDelay)];
  const speed = median(all.slice(1).map((round) => round.megabytesPerSecond));
  console.log(`| ${name} | ${figures.join(' | ')} | ${Math.round(speed)} |`);
}
const ratio = (one: string, other: string, figure: 'cpuPerGigabyte' | 'megabytesPerSecond') =>
  median(rounds(one).map((round, i) => round[figure] / rounds(other)[i]![figure]));
const goals: [string, string, 'cpuPerGigabyte' | 'megabytesPerSecond', string][] = [
  ['download', 'download from nginx', 'cpuPerGigabyte', 'CPU of a download / nginx (goal ≤ 1.0)'],
  ['upload', 'upload, bare', 'megabytesPerSecond', 'speed of an upload / bare (goal ≥ 0.7)'],
  ['upload', 'upload, bare', 'cpuPerGigabyte', 'CPU of an upload / bare'],
];
console.log('');
for (const [one, other, figure, text] of goals)
  if (isMeasured(one) && isMeasured(other)) console.log(`${text}: ${ratio(one, other, figure).toFixed(3)}`);
// The folder can go only once nobody writes there.
for (const child of [service.process, bare.process, raw.process, peer.process, nginx?.process]) {
  if (!child) continue;
  const over = once(child, 'exit');
  child.removeAllListeners('message').kill();
  await over;
}
process.exit(0);
