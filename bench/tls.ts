import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds } from './cpu.ts';
import { rangeOf } from './figures.ts';
import { ask, startForked } from './forked.ts';
import { startNginx } from './nginx.ts';
import { optionsOf } from './options.ts';
import { stolenDuring, Undisturbed } from './stolen.ts';
import type { Handshakes } from './tls-client.ts';

const options = optionsOf(
  'bench-tls',
  { rounds: '5', milliseconds: '2000', 'warm-up': '3000', 'stolen-max': '2' },
  `Measures the CPU time of a TLS 1.3 connection with one small request: of the service, of a bare node:https server and of
nginx (Debian: apt-get install nginx-light), which take turns, with one certificate (ECDSA, P-256). New clients make a full
handshake; those that return send the ticket of an earlier one. Prints medians and ranges over the rounds, and the
shares of nginx.`,
);

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

const CLIENTS = { 'new client': false, 'client that returns': true };
type Kind = keyof typeof CLIENTS;

async function millisecondsPer({ pid, port, path }: Server, kind: Kind, milliseconds: number) {
  const order = {
    port,
    path,
    milliseconds,
    returning: CLIENTS[kind],
    ca: readFileSync(join(folder, 'ca.pem'), 'utf8'),
  };
  const { result, stolen } = await stolenDuring(async () => {
    const before = cpuSeconds(pid);
    const { connections, resumed } = await ask<Handshakes>(client, order);
    if (resumed !== (CLIENTS[kind] ? connections : 0)) throw new Error(`${resumed} of ${connections} were resumed`);
    return ((cpuSeconds(pid) - before) * 1_000) / connections;
  });
  return { cost: result, stolen };
}

const undisturbed = new Undisturbed(Number(options['stolen-max']));
console.log('| CPU ms per connection | server | median (lowest to highest) | of nginx |\n| --- | --- | --- | --- |');
for (const kind of Object.keys(CLIENTS) as Kind[]) {
  const costs = new Map(Object.keys(servers).map((name) => [name, [] as number[]]));
  for (const server of Object.values(servers)) await millisecondsPer(server, kind, Number(options['warm-up']));
  for (let round = 0; round < Number(options.rounds); round += 1)
    for (const [name, server] of Object.entries(servers)) {
      const { cost } = await undisturbed.measure(() => millisecondsPer(server, kind, Number(options.milliseconds)));
      costs.get(name)!.push(cost);
    }
  for (const [name, all] of costs) {
    const shares = all.map((cost, round) => cost / costs.get('nginx')![round]!);
    console.log(`| ${kind} | ${name} | ${rangeOf(all, 3)} | ${rangeOf(shares, 2)} |`);
  }
}
console.log(`${undisturbed}.`);
process.exit(0);
