import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { START_OPTIONS } from '../commands.ts';
import { installPackages, programNamed } from '../debian.ts';
import { freePort } from '../free-port.ts';
import { temporaryDatabases, temporaryFolder } from '../temporary.ts';
import { isRunning, kill, type Running, type Surroundings, settingsOf, start } from './crash.ts';

const SAID_CHARACTERS = 2_000;
const DISK_BYTES = 24 * 1024 ** 3;
const READY_MS = 180_000;
const run = promisify(execFile);

/** Why no power can be cut here. As root on Debian it installs what is missing. */
export function reasonWithoutPower(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux may mount a disk';
  const isThere = () => ['nbdkit', 'nbdfuse', 'losetup', 'mkfs.ext4'].every((name) => programNamed(name));
  if (isThere()) return undefined;
  const refusal = installPackages('nbdkit', 'libnbd-bin', 'fuse3', 'e2fsprogs', 'mount');
  return refusal ?? (isThere() ? undefined : 'nbdkit, nbdfuse, losetup or mkfs.ext4 is missing');
}

export interface Cuts {
  /** How often bytes were gone that nobody had synced: the disk does lose them. */
  unsyncedLost: number;
  /** How often they were there nevertheless. */
  unsyncedKept: number;
}

/**
 * Surroundings whose disk has a volatile write cache: nbdkit holds writes in memory until it is asked to flush them. Killing it
 * is a power cut. Whatever the kernel or the disk had not flushed is lost, and the file system is repaired from its journal.
 */
export const withPower =
  (cuts: Cuts): Surroundings =>
  async (work) => {
    const folder = temporaryFolder('power');
    // PostgreSQL runs as another user.
    for (const each of [dirname(folder), folder]) chmodSync(each, 0o755);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
    const disk = new VolatileDisk(folder);
    await disk.on();
    await run('mkfs.ext4', ['-q', '-F', disk.device]);
    await disk.mount();
    const data = join(disk.folder, 'data');
    mkdirSync(data);
    const server = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres' ? new DiskServer(disk.folder) : undefined;
    try {
      const databases = server ? await server.create(data) : (await temporaryDatabases(data)).settings;
      // What the fixture has written must be there, whoever wrote it.
      await run('sync', ['-f', disk.folder]);
      const on = async () => {
        if (disk.isOn) return;
        await disk.on();
        await disk.mount();
        cuts[disk.takeCanary() ? 'unsyncedKept' : 'unsyncedLost'] += 1;
        await server?.start();
      };
      const env = { ...settingsOf(data), ...databases };
      return await work(env, data, {
        on,
        start: async () => {
          await on();
          return start(env);
        },
        cut: async (service: Running) => {
          disk.leaveCanary();
          await disk.cut();
          await kill(service.process);
          await server?.kill();
          await disk.remove();
        },
      });
    } finally {
      await server?.kill();
      await disk.end();
      rmSync(folder, { recursive: true, force: true });
    }
  };

const CANARY = 'a text that nobody syncs\n';

/** nbdkit with a write-back cache, shown as a file by nbdfuse, as a block device by the kernel, with ext4 on it. */
class VolatileDisk {
  readonly folder: string;
  readonly #image: string;
  readonly #socket: string;
  readonly #shown: string;
  device = '';
  #nbdkit: ChildProcess | undefined;
  #nbdfuse: ChildProcess | undefined;
  #isMounted = false;

  constructor(parent: string) {
    this.folder = join(parent, 'disk');
    this.#image = join(parent, 'image');
    this.#socket = join(parent, 'socket');
    this.#shown = join(parent, 'shown');
    for (const each of [this.folder, this.#shown]) mkdirSync(each);
    writeFileSync(this.#image, '');
    truncateSync(this.#image, DISK_BYTES);
    process.on('exit', this.#abandon);
  }

  /** For a run that is interrupted: an exit handler cannot await. */
  readonly #abandon = (): void => {
    this.#nbdkit?.kill('SIGKILL');
    const quietly = (...words: string[]) => spawnSync(words[0]!, words.slice(1), { stdio: 'ignore' });
    if (this.#isMounted) quietly('umount', '--lazy', this.folder);
    if (this.device) quietly('losetup', '--detach', this.device);
    if (this.#nbdfuse) quietly('umount', '--lazy', this.#shown);
  };

  get isOn(): boolean {
    return this.#nbdkit !== undefined;
  }

  async on(): Promise<void> {
    rmSync(this.#socket, { force: true });
    const quietly = { stdio: 'ignore' as const };
    const cached = ['--filter=cache', 'file', this.#image, 'cache=writeback'];
    this.#nbdkit = spawn('nbdkit', ['--foreground', '--unix', this.#socket, ...cached], quietly);
    await until('nbdkit', () => existsSync(this.#socket));
    const file = join(this.#shown, 'disk');
    this.#nbdfuse = spawn('nbdfuse', [file, '--unix', this.#socket], quietly);
    await until('nbdfuse', () => existsSync(file));
    this.device = (await run('losetup', ['--find', '--show', file])).stdout.trim();
  }

  async mount(): Promise<void> {
    await run('mount', ['-t', 'ext4', this.device, this.folder]);
    this.#isMounted = true;
  }

  leaveCanary(): void {
    writeFileSync(join(this.folder, 'canary'), CANARY);
  }

  takeCanary(): boolean {
    const path = join(this.folder, 'canary');
    const isThere = existsSync(path) && readFileSync(path, 'utf8') === CANARY;
    rmSync(path, { force: true });
    return isThere;
  }

  /** The programs above see errors from now on. */
  async cut(): Promise<void> {
    if (this.#nbdkit && isRunning(this.#nbdkit)) await kill(this.#nbdkit);
    this.#nbdkit = undefined;
  }

  /** Forgets what the kernel holds of the disk. */
  async remove(): Promise<void> {
    // A killed program may still be ending.
    await retried(() => (this.#isMounted ? run('umount', [this.folder]) : undefined));
    this.#isMounted = false;
    if (this.device) await run('losetup', ['--detach', this.device]);
    this.device = '';
    const ended = this.#nbdfuse && isRunning(this.#nbdfuse) && once(this.#nbdfuse);
    if (this.#nbdfuse) await run('umount', ['--lazy', this.#shown]).catch(() => {});
    if (this.#nbdfuse && isRunning(this.#nbdfuse)) this.#nbdfuse.kill('SIGKILL');
    await ended;
    this.#nbdfuse = undefined;
  }

  async end(): Promise<void> {
    await this.cut();
    await this.remove();
    process.off('exit', this.#abandon);
  }
}

const once = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve));

async function retried(work: () => unknown): Promise<void> {
  const tooLate = performance.now() + READY_MS;
  for (;;)
    try {
      return void (await work());
    } catch (error) {
      if (performance.now() > tooLate) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const tooLate = performance.now() + READY_MS;
  while (!isTrue()) {
    if (performance.now() > tooLate) throw new Error(`${what} is not ready`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** PostgreSQL of the distribution with its default settings, so with fsync, on the disk. */
class DiskServer {
  readonly #data: string;
  readonly #programs: string;
  readonly #owner = { uid: idOf('-u'), gid: idOf('-g') };
  #port = 0;
  #child: ChildProcess | undefined;

  constructor(folder: string) {
    const [programs] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
    if (!programs) throw new Error('Install the package postgresql.');
    this.#programs = programs;
    this.#data = join(folder, 'postgres');
  }

  /** With an empty database that has all tables. */
  async create(modsteadData: string): Promise<Record<string, string>> {
    this.#port = await freePort();
    mkdirSync(this.#data, { mode: 0o700 });
    chownSync(this.#data, this.#owner.uid, this.#owner.gid);
    await this.#run('initdb', '-D', this.#data, '-U', 'modstead', '--auth=trust', '-E', 'UTF8', '--data-checksums');
    const settings = `listen_addresses = '127.0.0.1'\nport = ${this.#port}\nunix_socket_directories = ''\n`;
    // One sync of the disk instead of one for each of its thousand files.
    const recovery = `max_connections = 200\nrecovery_init_sync_method = syncfs\n`;
    appendFileSync(join(this.#data, 'postgresql.conf'), settings + recovery);
    await this.start();
    await this.#run('createdb', ...this.#address, '-U', 'modstead', 'modstead');
    const url = `postgres://modstead@127.0.0.1:${this.#port}/modstead`;
    const env = { ...process.env, MODSTEAD_DATABASE_URL: url, MODSTEAD_DATA: modsteadData };
    await run(process.execPath, [...START_OPTIONS, 'bin/modstead.mjs', 'migrate'], { env });
    return { MODSTEAD_DATABASE_URL: url };
  }

  async start(): Promise<void> {
    const child = spawn(join(this.#programs, 'postgres'), ['-D', this.#data], {
      ...this.#owner,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    let said = '';
    child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-SAID_CHARACTERS)));
    const tooLate = performance.now() + READY_MS;
    while (!(await this.#isReady())) {
      if (performance.now() > tooLate || !isRunning(child)) throw new Error(`PostgreSQL does not start: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async kill(): Promise<void> {
    const server = this.#child;
    this.#child = undefined;
    if (!server?.pid || !isRunning(server)) return;
    const { stdout } = await run('pgrep', ['--parent', String(server.pid)]).catch(() => ({ stdout: '' }));
    await kill(server);
    const backends = stdout.split('\n').filter(Boolean).map(Number);
    // Its successor refuses to start beside one of them.
    await until('the end of PostgreSQL', () => backends.filter(killQuietly).length === 0);
  }

  get #address(): string[] {
    return ['-h', '127.0.0.1', '-p', String(this.#port)];
  }

  #isReady(): Promise<boolean> {
    return this.#run('pg_isready', ...this.#address, '-q').then(
      () => true,
      () => false,
    );
  }

  #run(program: string, ...args: string[]) {
    return run(join(this.#programs, program), args, this.#owner);
  }
}

const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));

/** False if it has ended. */
function killQuietly(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
