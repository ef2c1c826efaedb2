import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { load } from './load.ts';
import type { Task } from './peer.ts';

const { values: options } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '3' },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`npm run bench-files [-- --megabytes 128 --rounds 3]
Measures transfers over TLS on this machine, each beside its yardstick in one interleaved run: a file that eight clients
download from this service and from nginx (left out where there is none), one that is uploaded to this service and to a
bare node:https stream that hashes and writes, and how long readers of a game wait while four downloads fill a line of
a gigabit. (Readers on the same machine that take all they can get would take its processors away from the service.)
1024 megabytes give the figures that the documentation tells.`);
  process.exit(0);
}
const MEGABYTE = 1024 * 1024;
const GIGABYTE = 1024 * MEGABYTE;
const BYTES = Number(options.megabytes) * MEGABYTE;
const ROUNDS = Number(options.rounds);
const READERS = 8;
const BROWSE_MS = 4_000;
const GIGABIT_BYTES = 118_000_000;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

async function start<T>(file: string, env: Record<string, string> = {}): Promise<{ process: ChildProcess } & T> {
  const child = fork(join(import.meta.dirname, file), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
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
const peer = await start('peer.ts');
const transfer = (task: Partial<Task>) =>
  ask<{ bytes: number; seconds: number }>(peer.process, { clients: 1, times: 1, bytes: BYTES, ...task });

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

const results = new Map<string, { cpuPerGigabyte: number; megabytesPerSecond: number }[]>();
async function measured(name: string, cpu: () => Promise<number> | number, task: Partial<Task>): Promise<void> {
  const before = await cpu();
  const { bytes, seconds } = await transfer(task);
  const used = (await cpu()) - before;
  const figures = { cpuPerGigabyte: used / (bytes / GIGABYTE), megabytesPerSecond: bytes / MEGABYTE / seconds };
  results.set(name, [...(results.get(name) ?? []), figures]);
}

async function p99(): Promise<number> {
  const request = Buffer.from(
    `GET ${service.page} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n\r\n`,
  );
  const asked = { port: service.port, requests: () => request, connections: 4, milliseconds: BROWSE_MS };
  const { latencies } = await load(asked);
  return latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)]!;
}

const nginx = await startNginx(service.path);
if (!nginx) console.log('nginx cannot be started here (Debian: apt-get install nginx-light); its row is left out.');
console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; ${options.megabytes} MiB, ${ROUNDS} rounds`,
);
const reading = { kind: 'read', clients: READERS } as const;
const browsing: number[] = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  const ofService = { ...reading, port: service.port, path: service.file };
  await measured('download', () => cpuOf(service.process), ofService);
  if (nginx)
    await measured('download from nginx', () => ticksOf(nginx.process.pid!), {
      ...reading,
      port: nginx.port,
      path: `/${service.path.split('/').at(-1)}`,
    });
  await measured('upload', () => cpuOf(service.process), {
    kind: 'write',
    port: service.uploadPort,
    path: '/v1/receive',
  });
  await measured('upload, bare', () => cpuOf(bare.process), { kind: 'write', port: bare.port, path: '/' });
  const idle = await p99();
  const busy = { over: false };
  const four = { ...ofService, clients: 4, bytesPerSecond: GIGABIT_BYTES / 4 };
  const transfers = (async () => {
    while (!busy.over) await transfer(four);
  })();
  const loaded = await p99();
  busy.over = true;
  await transfers;
  browsing.push(loaded / idle);
  console.log(
    round === 0
      ? 'warmed up'
      : `round ${round} of ${ROUNDS} done; p99 ${idle.toFixed(2)} ms, with transfers ${loaded.toFixed(2)} ms`,
  );
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
// The first round of a process is the compiler's: it is not counted.
const rounds = (name: string) => results.get(name)!.slice(1);
console.log('\n| what | CPU seconds per GiB | MiB per second |\n|---|---|---|');
for (const name of results.keys()) {
  const cpu = median(rounds(name).map((round) => round.cpuPerGigabyte));
  const speed = median(rounds(name).map((round) => round.megabytesPerSecond));
  console.log(`| ${name} | ${cpu.toFixed(3)} | ${Math.round(speed)} |`);
}
const ratio = (one: string, other: string, figure: 'cpuPerGigabyte' | 'megabytesPerSecond') =>
  median(rounds(one).map((round, i) => round[figure] / rounds(other)[i]![figure]));
const goals: [string, number, string][] = [
  ['speed of an upload / bare', ratio('upload', 'upload, bare', 'megabytesPerSecond'), '≥ 0.7'],
  ['CPU of an upload / bare', ratio('upload', 'upload, bare', 'cpuPerGigabyte'), ''],
  ['p99 of browsing during four downloads / idle', median(browsing.slice(1)), '≤ 2'],
];
if (nginx)
  goals.unshift(['CPU of a download / nginx', ratio('download', 'download from nginx', 'cpuPerGigabyte'), '≤ 1.0']);
console.log('\n| ratio | measured | goal |\n|---|---|---|');
for (const [name, value, goal] of goals) console.log(`| ${name} | ${value.toFixed(3)} | ${goal} |`);
for (const child of [service.process, bare.process, peer.process, nginx?.process]) child?.kill();
process.exit(0);
