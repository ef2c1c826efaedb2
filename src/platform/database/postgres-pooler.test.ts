import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eachDatabase } from '../../../test/databases.ts';
import { installPackages, programNamed } from '../../../test/debian.ts';
import { freePort } from '../../../test/free-port.ts';
import { temporaryFolder } from '../../../test/temporary.ts';
import { SharedSessions } from './failures.ts';
import { requireOwnSessions } from './postgres-pooler.ts';

const MODES = [
  ['session', 0],
  ['transaction', 0],
  ['transaction', 1],
] as const;

eachDatabase('connections without a pooler have sessions of their own', [], async ({ url }, t) => {
  if (url === undefined) return t.skip('SQLite has no connections');
  await requireOwnSessions(url);
});

for (const [mode, isRoundRobin] of MODES)
  eachDatabase(
    `PgBouncer in ${mode} mode, server_round_robin=${isRoundRobin}: shared sessions are refused`,
    [],
    async ({ url }, t) => {
      if (url === undefined) return t.skip('SQLite has no connections');
      const missing = programNamed('pgbouncer') ? undefined : installPackages('pgbouncer');
      if (missing) return t.skip(missing);
      const pooled = await startPgBouncer(url, t, `pool_mode = ${mode}\nserver_round_robin = ${isRoundRobin}`);
      if (mode === 'session') await requireOwnSessions(pooled);
      else await assert.rejects(requireOwnSessions(pooled), SharedSessions);
    },
  );

async function startPgBouncer(url: string, t: TestContext, settings: string): Promise<string> {
  const { hostname, port, username, password } = new URL(url);
  const folder = temporaryFolder('pgbouncer');
  const [own, users, config] = [await freePort(), join(folder, 'users'), join(folder, 'pgbouncer.ini')];
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    config,
    `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${own}
auth_type = trust\nauth_file = ${users}\nunix_socket_dir =\n${settings}\n`,
  );
  for (const each of [users, config]) chmodSync(each, 0o644);
  chmodSync(folder, 0o755);
  // It refuses to run as root.
  const owner = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(programNamed('pgbouncer')!, [...owner, config], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  while (child.exitCode === null && !(await answers(own))) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(child.exitCode, null, 'PgBouncer has ended');
  const pooled = new URL(url);
  pooled.port = String(own);
  pooled.searchParams.delete('host');
  return pooled.href;
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
