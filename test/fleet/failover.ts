import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CephBucket, findCeph, startCeph } from '../ceph.ts';
import { programNamed } from '../debian.ts';
import { type Cluster, PRIMARY_PORT, REPLICA_PORT, startCluster, within } from './cluster.ts';
import { Doors } from './doors.ts';
import { HERE, type Machine, makeNetwork, plugIn, removeNetwork, unplug } from './network.ts';
import { type RunningService, runCommand, startService } from './services.ts';
import { makeUploaders, Uploads } from './uploaders.ts';
import { Load, makeWriters } from './writers.ts';

const PROMOTED_MS = 120_000;
const BACK_MS = 60_000;
const PROGRAMS = ['patroni', 'etcd', 'haproxy', 'ip', 'runuser'];

/** Why the fleet cannot run here. */
export function missingForFleet(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const missing = PROGRAMS.filter((name) => !programNamed(name));
  if (missing.length > 0) return `install ${missing.join(', ')} (patroni, etcd-server, haproxy, postgresql-15)`;
  return findCeph()?.reason;
}

export type Fault = 'kill' | 'partition' | 'switchover';

export interface FailoverResult {
  readonly fault: Fault;
  /** From the fault to the new primary, and from there to the first acknowledged write. */
  readonly promotedMs: number;
  readonly backMs: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly broken: number;
  /** Acknowledged files in the bucket. */
  readonly files: number;
  readonly wrong: readonly string[];
  readonly lost: readonly string[];
}

type Say = (line: string) => void;

/** Three PostgreSQL nodes and three services on machines of their own; each fault happens under load. */
export async function failovers(faults: readonly Fault[], writers: number, say: Say): Promise<FailoverResult[]> {
  const folder = join(tmpdir(), `modstead-fleet-${process.pid}`);
  const machines = makeNetwork({ db1: 11, db2: 12, db3: 13, app1: 21, app2: 22, app3: 23 });
  let cluster: Cluster | undefined;
  let bucket: CephBucket | undefined;
  let services: RunningService[] = [];
  try {
    say('starting the gateway of Ceph');
    bucket = await startCeph(HERE);
    say('starting etcd, HAProxy and three PostgreSQL nodes under Patroni');
    cluster = await startCluster(machines.slice(0, 3), folder);
    await cluster.settled(2);
    say('starting three services');
    const env = { ...settingsOf(folder), MODSTEAD_STORAGE_URL: bucket.url };
    services = await startServices(machines.slice(3), env, folder);
    const results: FailoverResult[] = [];
    for (const fault of faults) results.push(await failover(cluster, services, env, { fault, writers, say }));
    return results;
  } finally {
    for (const { child } of services) child.kill('SIGKILL');
    await cluster?.stop();
    await bucket?.stop();
    removeNetwork();
    rmSync(folder, { recursive: true, force: true });
  }
}

const settingsOf = (folder: string): Record<string, string> => ({
  MODSTEAD_DATABASE_URL: `postgres://postgres@${HERE}:${PRIMARY_PORT}/postgres`,
  MODSTEAD_DATABASE_READ_URL: `postgres://postgres@${HERE}:${REPLICA_PORT}/postgres`,
  MODSTEAD_DATA: join(folder, 'modstead'),
  MODSTEAD_SECRET: 'a secret of the fleet that is long enough for anyone',
  MODSTEAD_BIND: '0.0.0.0',
  MODSTEAD_PUBLIC_PORT: '443',
  MODSTEAD_TRUST_PROXY: HERE,
  MODSTEAD_RATE_LIMITS: 'off',
  MODSTEAD_PROCESSES: '1',
  MODSTEAD_LOG: 'info',
});

async function startServices(
  machines: readonly Machine[],
  env: Record<string, string>,
  folder: string,
): Promise<RunningService[]> {
  const checkout = resolve(import.meta.dirname, '../..');
  await runCommand('migrate', { checkout, env, folder });
  const services: RunningService[] = [];
  for (const machine of machines) services.push(await startService({ checkout, env, folder, machine, port: 8_443 }));
  return services;
}

interface FailoverOptions {
  readonly fault: Fault;
  readonly writers: number;
  readonly say: Say;
}

async function failover(
  cluster: Cluster,
  services: readonly RunningService[],
  env: Record<string, string>,
  { fault, writers, say }: FailoverOptions,
): Promise<FailoverResult> {
  const here = { ...env, MODSTEAD_PORT: '8443' };
  const doors = new Doors(services);
  const load = new Load(await makeWriters(here, writers), doors);
  const uploads = new Uploads(await makeUploaders(here), doors);
  load.start();
  uploads.start();
  const isUnderLoad = () => load.seen.acknowledged > 5 * writers && uploads.acknowledged > 0;
  await within(BACK_MS, 'writes before the fault', async () => isUnderLoad());
  const old = (await cluster.primary())!;
  say(`${fault} of ${old.name}, after ${load.seen.acknowledged} acknowledged writes`);
  const began = performance.now();
  if (fault === 'kill') cluster.kill(old);
  else if (fault === 'partition') unplug(old);
  else await cluster.switchOver(old);
  await within(PROMOTED_MS, 'another primary', async () => {
    const leading = await cluster.primary();
    return leading !== undefined && leading !== old;
  });
  const promoted = performance.now();
  await within(BACK_MS, 'writes after the promotion', async () => load.seen.lastAcknowledged > promoted);
  const back = load.seen.lastAcknowledged;
  await pause(2_000);
  if (fault === 'kill') cluster.start(old);
  if (fault === 'partition') plugIn(old);
  await cluster.settled(2);
  await Promise.all([load.stop(), uploads.stop()]);
  const { acknowledged, refused, broken } = load.seen;
  const times = { promotedMs: promoted - began, backMs: back - promoted };
  const lost = [...(await load.lost()), ...(await uploads.lost())];
  const wrong = [...load.seen.wrong, ...uploads.wrong];
  return { fault, ...times, acknowledged, refused, broken, files: uploads.acknowledged, wrong, lost };
}
