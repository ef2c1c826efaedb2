import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { type S3Location, toS3Location } from '../src/platform/storage/location.ts';
import { installPackages, programNamed } from './debian.ts';

/** A bucket of a real S3 server. */
export interface CephBucket {
  /** As in MODSTEAD_STORAGE_URL. */
  readonly url: string;
  /** The number of unfinished multipart uploads under a prefix. */
  uploadsUnder(location: S3Location): Promise<number>;
  stop(): Promise<void>;
}

const BUCKET = 'files';
const GATEWAY = 'client.rgw.test';
const START_MS = 60_000;
const run = promisify(execFile);

/** Undefined if Ceph's object gateway is installed, otherwise the reason. As root on Debian it installs the gateway first. */
export function findCeph(): { reason: string } | undefined {
  const isThere = () => ['ceph-mon', 'ceph-osd', 'radosgw'].every((name) => programNamed(name));
  if (process.env['MODSTEAD_TEST_S3_URL'] || isThere()) return undefined;
  const refusal = installPackages('ceph-mon', 'ceph-osd', 'radosgw');
  return refusal
    ? { reason: `there is no S3 server here, and MODSTEAD_TEST_S3_URL names none: ${refusal}` }
    : undefined;
}

/** The bucket of MODSTEAD_TEST_S3_URL, or one of an in-memory Ceph cluster that ends with this process. */
export async function startCeph(address = '127.0.0.1'): Promise<CephBucket> {
  const given = process.env['MODSTEAD_TEST_S3_URL'];
  if (given) return bucketAt(given, async () => {});
  const cluster = await startCluster(address);
  try {
    const url = await startGateway(cluster);
    await clientOf(toS3Location(url)!).send(new CreateBucketCommand({ Bucket: BUCKET }));
    return bucketAt(url, cluster.stop);
  } catch (cause) {
    await cluster.stop();
    throw new Error('Ceph could not be started for the tests', { cause });
  }
}

function bucketAt(url: string, stop: () => Promise<void>): CephBucket {
  const client = clientOf(toS3Location(url)!);
  return {
    url,
    uploadsUnder: async ({ bucket, prefix }) => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }));
      return Uploads.length;
    },
    stop: async () => {
      client.destroy();
      await stop();
    },
  };
}

const clientOf = ({ endpoint, region, credentials, isPathStyle }: S3Location) =>
  new S3Client({
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials }),
    region: region ?? 'us-east-1',
    forcePathStyle: isPathStyle,
  });

interface Cluster {
  readonly folder: string;
  /** Address and port of the gateway. */
  readonly gateway: string;
  start(program: string, ...args: string[]): ChildProcess;
  call(program: string, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** One monitor and one object store. */
async function startCluster(address: string): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-ceph-'));
  for (const name of ['mon', 'osd', 'gateway', 'run']) await mkdir(join(folder, name));
  const [monitorPort, gatewayPort] = await freePorts(2);
  const [id, storeId] = [randomUUID(), randomUUID()];
  const [map, keys] = [join(folder, 'monmap'), join(folder, 'keyring')];
  const monitor = `[v2:127.0.0.1:${monitorPort}]`;
  const gateway = `${address}:${gatewayPort}`;
  await writeFile(join(folder, 'ceph.conf'), configurationOf(folder, id, monitor, gateway));
  await run('ceph-authtool', ['--create-keyring', keys, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *']);
  for (const name of ['client.admin', 'osd.0', GATEWAY])
    await run('ceph-authtool', [keys, '--gen-key', '-n', name, '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *']);
  await run('monmaptool', ['--create', '--fsid', id, '--addv', 'a', monitor, map]);
  const cluster = programsIn(folder, gateway);
  await cluster.call('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keys);
  cluster.start('ceph-mon', '-f', '-i', 'a');
  await cluster.call('ceph', 'osd', 'new', storeId);
  await cluster.call('ceph-osd', '--mkfs', '-i', '0', '--osd-uuid', storeId);
  cluster.start('ceph-osd', '-f', '-i', '0');
  return cluster;
}

/** Starts programs that the kernel kills when this process ends, even by a signal. */
function programsIn(folder: string, gateway: string): Cluster {
  const children: ChildProcess[] = [];
  const withConfiguration = (args: string[]) => ['-c', join(folder, 'ceph.conf'), ...args];
  return {
    folder,
    gateway,
    start(program, ...args) {
      const line = ['--pdeathsig', 'KILL', program, ...withConfiguration(args)];
      const child = spawn('setpriv', line, { stdio: 'ignore' });
      child.unref();
      children.push(child);
      return child;
    },
    call: async (program, ...args) =>
      (await run(program, withConfiguration(args), { timeout: START_MS, killSignal: 'SIGKILL' })).stdout,
    async stop() {
      const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve).ref()));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ended);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const configurationOf = (folder: string, id: string, monitor: string, gateway: string) => `[global]
fsid = ${id}
mon host = ${monitor}
keyring = ${folder}/keyring
run dir = ${folder}/run
admin socket = ${folder}/run/$name.asok
log file = ${folder}/$name.log
mon cluster log file = ${folder}/cluster.log
crash dir = ${folder}
mon data = ${folder}/mon
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
mon allow pool size one = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
# Each pool of the gateway would wait a second or two for the monitor's next round.
paxos propose interval = 0.02
paxos min wait = 0.01
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 2147483648
[${GATEWAY}]
rgw data = ${folder}/gateway
rgw frontends = beast endpoint=${gateway}
rgw thread pool size = 32
rgw run sync thread = false
`;

async function startGateway(cluster: Cluster): Promise<string> {
  const [key, secret] = [randomBytes(8).toString('hex'), `${randomBytes(16).toString('base64url')}/+`];
  const person = ['--uid=tests', '--display-name=tests', `--access-key=${key}`, `--secret-key=${secret}`];
  await cluster.call('radosgw-admin', '-n', GATEWAY, 'user', 'create', ...person);
  const gateway = cluster.start('radosgw', '-f', '-n', GATEWAY);
  const endpoint = `http://${cluster.gateway}`;
  await untilAnswered(endpoint, gateway);
  return `s3://${key}:${encodeURIComponent(secret)}@${BUCKET}?endpoint=${encodeURIComponent(endpoint)}&region=default`;
}

async function untilAnswered(address: string, server: ChildProcess): Promise<void> {
  const tooLate = AbortSignal.timeout(START_MS);
  while (!(await fetch(address).catch(() => undefined))) {
    tooLate.throwIfAborted();
    if (server.exitCode !== null) throw new Error(`radosgw ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Keeps every port open until all are found, so that none is returned twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
