import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HERE, type Machine, on } from './network.ts';

const ETCD_PORT = 23_790;
/** HAProxy's doors to the primary and to a replica. */
export const PRIMARY_PORT = 5_000;
export const REPLICA_PORT = 5_001;
const PATRONI_PORT = 8_008;
const START_MS = 180_000;

/** Three PostgreSQL nodes under Patroni, with etcd and HAProxy. */
export interface Cluster {
  readonly nodes: readonly Machine[];
  primary(): Promise<Machine | undefined>;
  /** Kills everything that runs on the node. */
  kill(node: Machine): void;
  start(node: Machine): void;
  /** Waits until one node leads and this many follow. */
  settled(replicas: number): Promise<void>;
  switchOver(from: Machine): Promise<void>;
  stop(): Promise<void>;
}

const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));

export async function startCluster(nodes: readonly Machine[], folder: string): Promise<Cluster> {
  const own = (path: string) => {
    mkdirSync(path, { recursive: true });
    chownSync(path, idOf('-u'), idOf('-g'));
    return path;
  };
  own(folder);
  const processes = new Map<string, ChildProcess>();
  const launch = (name: string, [program, ...args]: string[]) => {
    const log = openSync(join(folder, `${name}.log`), 'a');
    processes.set(name, spawn(program!, args, { stdio: ['ignore', log, log], detached: true }));
  };
  const asPostgres = ['runuser', '-u', 'postgres', '--'];
  const start = (node: Machine) => {
    const file = join(folder, `${node.name}.yml`);
    writeFileSync(file, patroniSettings(node, own(join(folder, node.name))));
    launch(node.name, [...on(node), ...asPostgres, 'patroni', file]);
  };
  const client = `http://${HERE}:${ETCD_PORT}`;
  const peer = `http://${HERE}:${ETCD_PORT + 1}`;
  launch('etcd', [
    'etcd',
    ...['--data-dir', join(folder, 'etcd'), '--name', 'only', '--initial-cluster', `only=${peer}`],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--heartbeat-interval', '500'],
    ...['--election-timeout', '5000'],
  ]);
  const proxy = join(folder, 'haproxy.cfg');
  writeFileSync(proxy, proxySettings(nodes));
  launch('haproxy', ['haproxy', '-db', '-f', proxy]);
  for (const node of nodes) start(node);

  const primary = async () => {
    const leading = await Promise.all(nodes.map((node) => isHealthy(node, 'primary')));
    return nodes.find((_, i) => leading[i]);
  };
  const killAll = (name: string) => {
    const child = processes.get(name);
    processes.delete(name);
    if (child?.pid !== undefined) killQuietly(-child.pid);
  };
  const kill = (node: Machine) => {
    killAll(node.name);
    // PostgreSQL leaves the process group of Patroni.
    const namespace = on(node).at(-1)!;
    const pids = execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' });
    for (const pid of pids.split('\n').filter(Boolean)) killQuietly(Number(pid));
  };
  return {
    nodes,
    primary,
    kill,
    start,
    settled: (replicas) =>
      within(START_MS, `a primary and ${replicas} synchronous replicas`, async () => {
        if (!(await primary())) return false;
        const following = await Promise.all(nodes.map((node) => isHealthy(node, 'replica')));
        const synchronous = await Promise.all(nodes.map((node) => isHealthy(node, 'synchronous')));
        return following.filter(Boolean).length >= replicas && synchronous.some(Boolean);
      }),
    switchOver: async (from) => {
      await ask(from, 'POST', '/switchover', JSON.stringify({ leader: from.name }));
    },
    stop: async () => {
      for (const node of nodes) kill(node);
      for (const name of processes.keys()) killAll(name);
      await pause(200);
    },
  };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

export async function within(ms: number, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + ms;
  while (!(await isTrue())) {
    if (performance.now() > until) throw new Error(`not within ${ms / 1_000} s: ${what}`);
    await pause(200);
  }
}

const isHealthy = async (node: Machine, role: string) => (await ask(node, 'GET', `/${role}`)) === 200;

function ask({ address }: Machine, method: string, path: string, body?: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host: address, port: PATRONI_PORT, method, path, timeout: 1_000 }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(undefined));
    asked.end(body);
  });
}

const patroniSettings = ({ name, address }: Machine, data: string) => `scope: fleet
name: ${name}
restapi: { listen: "${address}:${PATRONI_PORT}", connect_address: "${address}:${PATRONI_PORT}" }
etcd3: { hosts: "${HERE}:${ETCD_PORT}" }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: { max_connections: 200, wal_log_hints: "on", hot_standby: "on", max_wal_senders: 8 }
  initdb: [{ encoding: UTF8 }, { locale: C }, data-checksums]
postgresql:
  listen: "${address}:5432"
  connect_address: "${address}:5432"
  data_dir: ${join(data, 'data')}
  bin_dir: /usr/lib/postgresql/15/bin
  pgpass: ${join(data, 'pgpass')}
  pg_hba: ["local all all trust", "host all all ${HERE.replace(/1$/, '0')}/24 trust", "host replication all ${HERE.replace(/1$/, '0')}/24 trust"]
  authentication:
    superuser: { username: postgres, password: fleet }
    replication: { username: replicator, password: fleet }
    rewind: { username: rewinder, password: fleet }
  parameters: { unix_socket_directories: "${data}" }
`;

const proxySettings = (nodes: readonly Machine[]) => {
  const servers = nodes
    .map(({ name, address }) => `  server ${name} ${address}:5432 check port ${PATRONI_PORT}`)
    .join('\n');
  const door = (port: number, role: string) => `listen ${role}
  bind ${HERE}:${port}
  option httpchk OPTIONS /${role}
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers}
`;
  return `global
  maxconn 2000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
${door(PRIMARY_PORT, 'primary')}${door(REPLICA_PORT, 'replica')}`;
};
