import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds, keepOnCore } from './cpu.ts';
import { median, rangeOf } from './figures.ts';
import { ask, startForked } from './forked.ts';
import { startNginx } from './nginx.ts';
import { optionsOf } from './options.ts';
import type { Handshakes } from './tls-client.ts';

const options = optionsOf(
  'bench-tls',
  { runs: '3', rounds: '20', milliseconds: '250', 'warm-up': '3000' },
  `Measures the CPU time of a TLS 1.3 connection with one small request: of the service, of a bare node:https server and of
nginx (Debian: apt-get install nginx-light), with one certificate (ECDSA, P-256). They take turns on one core, and the
clients have another, if there is taskset. New clients make a full handshake; those that return send the ticket of an
earlier one. Prints medians of each run's rounds, of all runs with their range, and the shares of nginx.`,
);
const SERVERS_CORE = 0;
const CLIENTS_CORE = 1;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Server {
  readonly pid: number;
  readonly port: number;
  readonly path: string;
}

async function startServers(): Promise<Record<string, Server>> {
  const tls = { BENCH_FOLDER: folder };
  const bare = await startForked<{ body: string }>('bare-tls.ts', tls);
  children.add(bare.process);
  const service = await startForked<{ game: number; key: string }>('service.ts', {
    MODSTEAD_DATA: join(folder, 'data'),
    MODSTEAD_PORT: '0',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_JOBS: 'off',
    MODSTEAD_TLS_CERT: join(folder, 'cert.pem'),
    MODSTEAD_TLS_KEY: join(folder, 'key.pem'),
  });
  children.add(service.process);
  const nginx = await startNginx(folder, `location / { default_type application/json; return 200 '${bare.body}'; }`);
  if (!nginx) throw new Error('nginx cannot be started here (Debian: apt-get install nginx-light).');
  children.add(nginx.process);
  return {
    service: { pid: service.process.pid!, port: service.port, path: '/v1/ping' },
    'node:https': { pid: bare.process.pid!, port: bare.port, path: '/' },
    nginx: { pid: nginx.process.pid!, port: nginx.port, path: '/' },
  };
}

const servers = await startServers();
const client = fork(join(import.meta.dirname, 'tls-client.ts'));
children.add(client);
await once(client, 'message');
for (const { pid } of Object.values(servers)) keepOnCore(pid, SERVERS_CORE);
keepOnCore(client.pid!, CLIENTS_CORE);

const CLIENTS = { 'new client': false, 'client that returns': true };
type Costs = Readonly<Record<string, number>>;

const ca = readFileSync(join(folder, 'ca.pem'), 'utf8');

async function millisecondsPer({ pid, port, path }: Server, returning: boolean, milliseconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  const order = { port, path, milliseconds, returning, ca };
  const { connections, resumed } = await ask<Handshakes>(client, order);
  if (resumed !== (returning ? connections : 0)) throw new Error(`${resumed} of ${connections} were resumed`);
  return ((cpuSeconds(pid) - before) * 1_000) / connections;
}

const all = Object.entries(CLIENTS).flatMap(([kind, returning]) =>
  Object.entries(servers).map(([name, server]) => ({ kind, returning, name, server, key: `${kind} | ${name}` })),
);

async function oneRound(milliseconds: number): Promise<Costs> {
  const costs: Record<string, number> = {};
  for (const { key, server, returning } of all) costs[key] = await millisecondsPer(server, returning, milliseconds);
  return costs;
}

/** The medians of a run's rounds: of costs, and of shares of what nginx takes in the same round. */
async function oneRun(): Promise<Record<'cost' | 'ofNginx' | 'ofNginxNew', Costs>> {
  const rounds: Costs[] = [];
  for (let round = 0; round < Number(options.rounds); round += 1)
    rounds.push(await oneRound(Number(options.milliseconds)));
  const medians = (base: (costs: Costs, kind: string) => number) =>
    Object.fromEntries(
      all.map(({ key, kind }) => [key, median(rounds.map((costs) => costs[key]! / base(costs, kind)))]),
    );
  return {
    cost: medians(() => 1),
    ofNginx: medians((costs, kind) => costs[`${kind} | nginx`]!),
    ofNginxNew: medians((costs) => costs['new client | nginx']!),
  };
}

await oneRound(Number(options['warm-up']));
const runs: Awaited<ReturnType<typeof oneRun>>[] = [];
for (let run = 0; run < Number(options.runs); run += 1) runs.push(await oneRun());
console.log(`| client | server | CPU ms per connection | of nginx | of nginx with new clients |
| --- | --- | --- | --- | --- |`);
for (const { key } of all) {
  const figure = (name: keyof (typeof runs)[0], digits: number) =>
    rangeOf(
      runs.map((run) => run[name][key]!),
      digits,
    );
  console.log(`| ${key} | ${figure('cost', 3)} | ${figure('ofNginx', 2)} | ${figure('ofNginxNew', 2)} |`);
}
process.exit(0);
