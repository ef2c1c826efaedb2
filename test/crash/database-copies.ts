import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { START_OPTIONS } from '../commands.ts';
import { isRunning, kill } from './crash.ts';
import type { Copies } from './restores.ts';

const run = promisify(execFile);
const ENVIRONMENTS = ['production', 'sandbox'];

/** Litestream with the intervals of deploy/litestream/litestream.yml, to a folder in place of a bucket. */
export async function litestreamCopies(folder: string, program: string): Promise<Copies> {
  const fileOf = (environment: string) => join(folder, 'data', environment, 'modstead.sqlite');
  const config = join(folder, 'litestream.yml');
  const entries = ENVIRONMENTS.map((environment) => {
    const replica = `{ type: file, path: ${join(folder, 'copies', environment)}, sync-interval: 1s }`;
    return `  - path: ${fileOf(environment)}\n    monitor-interval: 500ms\n    replica: ${replica}\n`;
  });
  writeFileSync(config, `snapshot:\n  interval: 1h\ndbs:\n${entries.join('')}`);
  let copying: ChildProcess | undefined;
  const begin = async () => {
    copying = spawn(program, ['replicate', '-config', config], { stdio: 'ignore' });
  };
  return {
    settings: {},
    begin,
    lose: async () => {
      if (copying && isRunning(copying)) await kill(copying);
      for (const environment of ENVIRONMENTS)
        rmSync(join(folder, 'data', environment), { recursive: true, force: true });
    },
    restore: async (moment) => {
      const to = moment ? ['-timestamp', moment.toISOString()] : [];
      await Promise.all(
        ENVIRONMENTS.map(async (environment) => {
          mkdirSync(join(folder, 'data', environment), { recursive: true });
          await run(program, ['restore', '-config', config, ...to, fileOf(environment)]);
        }),
      );
    },
    stop: async () => {
      if (copying && isRunning(copying)) await kill(copying);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const STANZA = 'modstead';
const READY_MS = 60_000;

/** PostgreSQL with the settings of deploy/postgres/archive.conf, and pgBackRest with a repository in a folder. */
export async function pgbackrestCopies(folder: string, programs: string): Promise<Copies> {
  const port = await freePort();
  const [server, copies, config] = [join(folder, 'server'), join(folder, 'copies'), join(folder, 'pgbackrest.conf')];
  const log = join(folder, 'postgres.log');
  // PostgreSQL refuses to run as root.
  for (const each of [dirname(folder), folder]) chmodSync(each, 0o755);
  for (const each of [server, copies, join(folder, 'spool')]) mkdirSync(each, { mode: 0o700 });
  writeFileSync(log, '');
  const paths = `repo1-path=${copies}\nlog-path=${folder}/spool\nlock-path=${folder}/spool\nspool-path=${folder}/spool\n`;
  const general = `repo1-retention-full=2\ncompress-type=zst\nstart-fast=y\nlog-level-file=off\n`;
  writeFileSync(
    config,
    `[global]\n${paths}${general}[${STANZA}]\npg1-path=${server}\npg1-port=${port}\npg1-socket-path=${folder}/spool\n`,
  );
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await run('chown', ['-R', 'postgres:', server, copies, join(folder, 'spool'), log]);
  const asServer = (program: string, ...args: string[]) =>
    isRoot ? run('runuser', ['-u', 'postgres', '--', program, ...args]) : run(program, args);
  const pgbackrest = (...args: string[]) =>
    asServer('pgbackrest', `--config=${config}`, `--stanza=${STANZA}`, '--log-level-console=warn', ...args);
  const startServer = () =>
    asServer(join(programs, 'pg_ctl'), '-D', server, '-l', log, '-w', '-t', String(READY_MS / 1_000), 'start');
  await asServer(join(programs, 'initdb'), '-D', server, '-U', 'modstead', '--auth=trust', '-E', 'UTF8');
  appendFileSync(
    join(server, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = '${folder}/spool'
wal_level = replica\narchive_mode = on\narchive_timeout = 2s
archive_command = 'pgbackrest --config=${config} --stanza=${STANZA} archive-push %p'\n`,
  );
  await startServer();
  const url = `postgres://modstead@127.0.0.1:${port}/modstead`;
  await asServer(join(programs, 'createdb'), '-h', '127.0.0.1', '-p', String(port), '-U', 'modstead', 'modstead');
  await run(process.execPath, [...START_OPTIONS, 'bin/modstead.mjs', 'migrate'], {
    env: { ...process.env, MODSTEAD_DATABASE_URL: url, MODSTEAD_DATA: join(folder, 'data') },
  });
  return {
    settings: { MODSTEAD_DATABASE_URL: url },
    begin: async () => {
      await pgbackrest('stanza-create', '--pg1-user=modstead');
      await pgbackrest('backup', '--type=full', '--pg1-user=modstead');
    },
    lose: async () => {
      await asServer(join(programs, 'pg_ctl'), '-D', server, '-m', 'immediate', 'stop').catch(() => {});
      rmSync(server, { recursive: true, force: true });
    },
    restore: async (moment) => {
      mkdirSync(server, { mode: 0o700 });
      if (isRoot) await run('chown', ['postgres:', server]);
      const to = moment
        ? [
            '--type=time',
            `--target=${moment.toISOString().replace('T', ' ').replace('Z', '+00')}`,
            '--target-action=promote',
          ]
        : [];
      await pgbackrest('restore', ...to);
      await startServer();
      await writable(asServer, programs, port);
    },
    stop: async () => {
      if (existsSync(server))
        await asServer(join(programs, 'pg_ctl'), '-D', server, '-m', 'immediate', 'stop').catch(() => {});
    },
  };
}

/** Recovery ends some time after the server accepts connections for reading. */
async function writable(
  asServer: (program: string, ...args: string[]) => Promise<{ stdout: string }>,
  programs: string,
  port: number,
): Promise<void> {
  const until = Date.now() + READY_MS;
  const psql = ['-h', '127.0.0.1', '-p', String(port), '-U', 'modstead', '-d', 'modstead', '-Atc'];
  while (Date.now() < until) {
    const { stdout } = await asServer(join(programs, 'psql'), ...psql, 'select pg_is_in_recovery()');
    if (stdout.trim() === 'f') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('PostgreSQL is still in recovery');
}
