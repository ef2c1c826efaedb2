// Runs alone: it starts child processes.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, get, type RequestOptions, request } from 'node:https';
import test from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { connect } from 'node:tls';
import { assertRefusal, endOf, firstLine, runHere, runProgram, startProgram } from '../../test/commands.ts';
import { relativeCpuTime } from '../../test/cpu-time.ts';
import { codesSentTo } from '../../test/mails.ts';
import { createDatabase, dropDatabase, startPostgres } from '../../test/postgres.ts';
import { temporaryDatabases, temporaryFolder } from '../../test/temporary.ts';

const ON_POSTGRES = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres';
/** CPU time, scaled by the speed of the machine. */
const READY_MS_MAX = 5_000;
const TICK_MS = 10;

interface Ready {
  readonly port: number;
  readonly ready_ms: number;
  readonly certificate: string;
  readonly api: string;
  readonly demo: { games: { id: number; api_key: string; api_url: string }[] } | null;
}

async function serve(settings: NodeJS.ProcessEnv, ...args: string[]) {
  const child = startProgram(['serve', '--json', ...args], { MODSTEAD_LOG: 'off', MODSTEAD_PORT: '0', ...settings });
  const ended = endOf(child);
  const ready = JSON.parse(await firstLine(child)) as Ready;
  return { child, ended, ready, workMs: workMsOf(child) };
}

/** The CPU time of a process, which the load of other processes does not affect, if the system provides it. */
function workMsOf({ pid }: ChildProcess): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return (Number(user) + Number(system)) * TICK_MS;
}

function fetchJson(ready: Ready, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const { port } = ready;
  const options = {
    host: '127.0.0.1',
    port,
    path,
    ca: readFileSync(ready.certificate),
    servername: 'localhost',
    agent: false,
  };
  return new Promise((resolve, reject) => {
    get(options as object, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    }).on('error', reject);
  });
}

/** A new data folder for a service, on the database of this run. */
async function newPlace() {
  const folder = temporaryFolder('serving');
  if (!ON_POSTGRES) return { settings: { MODSTEAD_DATA: folder }, leave: async () => {} };
  const server = await startPostgres();
  const name = `serving_${randomBytes(6).toString('hex')}`;
  return {
    settings: { MODSTEAD_DATA: folder, MODSTEAD_DATABASE_URL: await createDatabase(server.url, name) },
    leave: async () => {
      for (const each of [name, `${name}_sandbox`]) await dropDatabase(server.url, each);
      await server.stop();
    },
  };
}

test('a service starts in an empty folder, answers over TLS with its sample content, and stops on a signal', async (t) => {
  const { settings, leave } = await newPlace();
  t.after(leave);
  if (ON_POSTGRES) {
    assertRefusal(await runProgram(['serve'], settings), 2, /run "npx modstead migrate" first/);
    const migrated = await runHere(['migrate'], settings);
    assert.equal(migrated.code, 0, migrated.err);
    assert.match(migrated.out, /sandbox: created the database serving_\w+_sandbox.*up to date\n$/s);
  }
  const first = await serve(settings, '--demo');
  const [game] = first.ready.demo!.games;
  const { status, body } = await fetchJson(first.ready, `/v1/games/${game!.id}?api_key=${game!.api_key}`);
  assert.deepEqual([status, body['name']], [200, 'Skyfarers']);
  assert.equal(body['profile_url'], `https://localhost:${first.ready.port}/g/skyfarers`);
  const onSamePort = { ...settings, MODSTEAD_PORT: String(first.ready.port) };
  assertRefusal(await runProgram(['serve'], onSamePort), 1, /^Port \d+ is in use/);
  first.child.kill('SIGTERM');
  const { code, out } = await first.ended;
  assert.deepEqual([code, out.trim().split('\n').length], [0, 1]);

  const second = await serve(settings, '--demo');
  assert.equal(second.ready.demo, null);
  const { workMs = 0, ready } = second;
  assert.ok(
    workMs < READY_MS_MAX * relativeCpuTime(),
    `${workMs} ms of CPU time, ${ready.ready_ms} ms in all to ready`,
  );
  t.diagnostic(`ready with an existing database in ${ready.ready_ms} ms, ${workMs} of them CPU time`);
  second.child.kill('SIGINT');
  assert.equal((await second.ended).code, 0);
});

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The process that answered; request ids begin with a name of their process. */
  readonly process: string;
}

function call({ port, certificate }: Ready, options: RequestOptions, form = ''): Promise<Answer> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': form.length };
  return new Promise((resolve, reject) => {
    const tls = { ca: readFileSync(certificate), servername: 'localhost' };
    const asked = { ...tls, host: '127.0.0.1', port, ...options, headers: { ...headers, ...options.headers } };
    request(asked, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      const process = String(response.headers['x-request-id']).split('-')[0]!;
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, process }));
    })
      .on('error', reject)
      .end(form);
  });
}

/** A connection to each of two processes; the kernel chooses the process of a connection. */
async function connectionsToBoth(ready: Ready): Promise<[Agent, Agent]> {
  const found = new Map<string, Agent>();
  while (found.size < 2) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { process } = await call(ready, { agent, path: '/v1/ping' });
    if (found.has(process)) agent.destroy();
    else found.set(process, agent);
  }
  return [...found.values()] as [Agent, Agent];
}

/** Connects with TLS, and resolves to the session that a later connection can resume. */
function newSession({ port, certificate }: Ready): Promise<Buffer> {
  const options = { port, host: '127.0.0.1', servername: 'localhost', ca: readFileSync(certificate) };
  return new Promise((resolve, reject) => {
    const socket = connect(options).on('error', reject).resume();
    socket.once('session', (session) => {
      resolve(session);
      socket.destroy();
    });
  });
}

function isResumed({ port, certificate }: Ready, session: Buffer): Promise<boolean> {
  const options = { port, host: '127.0.0.1', servername: 'localhost', ca: readFileSync(certificate), session };
  return new Promise((resolve, reject) => {
    const socket = connect(options).on('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.isSessionReused());
      socket.destroy();
    });
  });
}

async function metricsOf(ready: Ready): Promise<{ pids: number[]; pings: number }> {
  const { status, text } = await call(ready, { path: '/metrics', agent: false });
  // On a busy machine the processes may not report in time.
  if (status === 503) return metricsOf(ready);
  return {
    pids: [...text.matchAll(/^process_uptime_seconds\{pid="(\d+)"/gm)].map(([, pid]) => Number(pid)),
    pings: Number(/^modstead_request_seconds_count\{operation="ping",status="200"\} (\d+)/m.exec(text)?.[1] ?? 0),
  };
}

test('two processes serve one port: each sees the writes of the other, and they are replaced without a lost request', async (t) => {
  const folder = temporaryFolder('serving');
  const databases = await temporaryDatabases(folder);
  t.after(() => databases.drop());
  const settings = { MODSTEAD_DATA: folder, MODSTEAD_PROCESSES: '2', ...databases.settings };
  const add = async <T>(...args: string[]) => JSON.parse((await runHere([...args, '--json'], settings)).out) as T;
  const owner = await add<{ id: number }>('user', 'add', '--email', 'studio@example.com', '--username', 'Studio');
  const game = ['--name', 'Skyfarers', '--owner', String(owner.id), '--accepted'];
  const { id, api_key: key } = await add<{ id: number; api_key: string }>('game', 'add', ...game);
  const { child, ended, ready } = await serve(settings);
  t.after(() => child.kill('SIGKILL'));
  const [one, other] = await connectionsToBoth(ready);
  const host = { host: `g-${id}.localhost:${ready.port}` };
  const path = (name: string) => `/v1/${name}?api_key=${key}`;
  const mail = 'email=studio@example.com';
  await call(ready, { agent: one, method: 'POST', path: path('oauth/emailrequest'), headers: host }, mail);
  const [code] = codesSentTo({ folder }, 'studio@example.com');
  const exchange = { agent: other, method: 'POST', path: path('oauth/emailexchange'), headers: host };
  const signedIn = await call(ready, exchange, `security_code=${code}&${mail}`);
  assert.equal(signedIn.status, 200, signedIn.text);
  const { access_token } = JSON.parse(signedIn.text) as { access_token: string };

  for (let round = 0; round < 10; round += 1) {
    const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
    const summary = `Summary ${round} of the game`;
    const headers = { ...host, authorization: `Bearer ${access_token}` };
    const write = { agent: writer, method: 'PUT', path: `/v1/games/${id}`, headers };
    const written = await call(ready, write, `summary=${encodeURIComponent(summary)}`);
    assert.equal(written.status, 200, written.text);
    const read = await call(ready, { agent: reader, path: path(`games/${id}`), headers: host });
    assert.notEqual(read.process, written.process);
    assert.equal(JSON.parse(read.text).summary, summary);
  }

  const session = await newSession(ready);
  for (let i = 0; i < 8; i += 1) assert.equal(await isResumed(ready, session), true);

  const before = await metricsOf(ready);
  assert.equal(before.pids.length, 2);
  for (const agent of [one, other]) agent.destroy();
  process.kill(before.pids[0]!, 'SIGKILL');
  const untilReplaced = async (old: readonly number[], metrics: () => Promise<{ pids: number[]; pings: number }>) => {
    for (;;) {
      const now = await metrics();
      assert.ok(now.pings >= before.pings, 'a counter fell when a process ended');
      if (now.pids.length === 2 && !now.pids.some((pid) => old.includes(pid))) return now.pids;
      // Requests without a pause would take the CPU time that the new processes need to start.
      await passes(20);
    }
  };
  // A killed process takes the connections that it had accepted with it; a reload loses none.
  const pids = await untilReplaced(before.pids.slice(0, 1), () => metricsOf(ready).catch(() => before));
  child.kill('SIGHUP');
  await untilReplaced(pids, () => metricsOf(ready));
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
});

test('a worker runs until it is stopped', async (t) => {
  const folder = temporaryFolder('serving');
  const databases = await temporaryDatabases(folder);
  t.after(() => databases.drop());
  const child = startProgram(['work'], { MODSTEAD_DATA: folder, MODSTEAD_LOG: 'off', ...databases.settings });
  const ended = endOf(child);
  await firstLine(child);
  child.kill('SIGTERM');
  const { code, out } = await ended;
  assert.deepEqual([code, out], [0, 'running the jobs of production and sandbox\n']);
});
