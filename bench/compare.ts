import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Callers } from './callers.ts';
import { cpuSeconds as cpuSecondsOf, keepOnCore } from './cpu.ts';

const { values: options } = parseArgs({
  options: {
    with: { type: 'string' },
    rounds: { type: 'string', default: '40' },
    milliseconds: { type: 'string', default: '200' },
    'warm-up': { type: 'string', default: '4000' },
    mods: { type: 'string', default: '20000' },
    only: { type: 'string', default: '' },
    starts: { type: 'string', default: '5' },
    'idle-seconds': { type: 'string', default: '10' },
    help: { type: 'boolean' },
  },
});
if (options.help || !options.with) {
  console.log(`npm run bench-compare -- --with CHECKOUT [--rounds 40 --milliseconds 200 --warm-up 4000 --mods 20000 --only PATTERN --starts 5 --idle-seconds 10]
Compares this checkout with another one, which has its own node_modules, in one interleaved run. The results are ratios of
requests per second of CPU time (median over the rounds, with the quartiles): above 1, this checkout is faster. The rounds are
short and many, because the machine's speed changes within seconds, and servers and callers have a core each, if there is taskset.
Start and memory are those of a service with the filled game, when it is ready and when it has been idle; below 1, this
checkout needs less.`);
  process.exit(options.help ? 0 : 1);
}

const ROUNDS = Number(options.rounds);
const MILLISECONDS = Number(options.milliseconds);
const SERVERS_CORE = 0;
const CALLERS_CORE = 1;
const only = new RegExp(options.only);
const CHECKOUTS = { here: resolve(import.meta.dirname, '..'), there: resolve(options.with) };
type Side = keyof typeof CHECKOUTS;
const SIDES = ['here', 'there'] as const;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

interface Server {
  readonly process: ChildProcess;
  readonly port: number;
}

const ask = <T>(child: ChildProcess, message: string): Promise<T> =>
  new Promise((resolve) => {
    child.once('message', (answer) => resolve(answer as T));
    child.send(message);
  });

const cpuSeconds = async (child: ChildProcess): Promise<number> => {
  const { user, system } = await ask<NodeJS.CpuUsage>(child, 'cpu');
  return (user + system) / 1e6;
};

const SETTINGS = {
  MODSTEAD_PORT: '0',
  MODSTEAD_TRUST_PROXY: '127.0.0.1',
  MODSTEAD_PUBLIC_PORT: '443',
  MODSTEAD_RATE_LIMITS: 'address=100000000,address_writes=100000000,token=100000000,token_writes=100000000',
  MODSTEAD_JOBS: 'off',
};

function run<T>(side: Side, file: string, data: string, env: Record<string, string>) {
  const child = fork(join(CHECKOUTS[side], 'bench', file), {
    cwd: CHECKOUTS[side],
    env: {
      ...process.env,
      ...SETTINGS,
      // As bin/modstead.mjs does.
      NODE_COMPILE_CACHE: join(CHECKOUTS[side], 'node_modules/.cache/modstead'),
      MODSTEAD_DATA: join(folder, `${side}-${data}`),
      ...env,
    },
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  });
  return new Promise<{ process: ChildProcess } & T>((resolve, reject) => {
    child.once('message', (message) => resolve({ process: child, ...(message as T) }));
    child.once('exit', (code) => reject(new Error(`${file} of ${side} ended with ${code}`)));
  });
}

const start = <T>(side: Side, file: string, data: string, env: Record<string, string> = {}): Promise<Server & T> =>
  run<{ port: number } & T>(side, file, data, env);

interface Content {
  readonly game: number;
  readonly key: string;
  readonly tokens: string[];
  readonly others: number[];
}
interface Filled {
  readonly game: number;
  readonly key: string;
  readonly mods: number[];
}
interface Servers {
  readonly cached: Server & Content;
  readonly uncached: Server & Content;
  readonly browsed: Server & Filled;
  readonly searched: Server & Filled;
}

async function startAll(side: Side): Promise<Servers> {
  await run(side, 'fill.ts', 'mods', { BENCH_MODS: options.mods });
  return {
    cached: await start<Content>(side, 'service.ts', 'cached'),
    uncached: await start<Content>(side, 'service.ts', 'uncached', { MODSTEAD_CACHE_MB: '0' }),
    browsed: await start<Filled>(side, 'mods.ts', 'mods'),
    searched: await start<Filled>(side, 'mods.ts', 'mods', { MODSTEAD_CACHE_MB: '0' }),
  };
}

const servers: Record<Side, Servers> = { here: await startAll('here'), there: await startAll('there') };

const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n${more}\r\n`;

interface Case {
  readonly name: string;
  readonly server: (servers: Servers) => Server;
  readonly connections: number;
  readonly requests: (servers: Servers, side: Side) => (connection: number) => Buffer;
}

const read = <N extends keyof Servers>(
  name: string,
  which: N,
  path: (server: Servers[N]) => string,
  more = '',
): Case => ({
  name,
  server: (all) => all[which],
  connections: 32,
  requests: (all) => {
    const bytes = Buffer.from(head('GET', path(all[which]), more));
    return () => bytes;
  },
});

const write = (name: string, request: (server: Content, connection: number, side: Side) => string): Case => ({
  name,
  server: ({ uncached }) => uncached,
  connections: 64,
  requests:
    ({ uncached }, side) =>
    (connection) =>
      Buffer.from(request(uncached, connection, side)),
});

const game = ({ game, key }: Content) => `/v1/games/${game}?api_key=${key}`;
const games = ({ key }: Content) => `/v1/games?api_key=${key}&_limit=100`;
const mods =
  (rest: string) =>
  ({ game, key }: Filled) =>
    `/v1/games/${game}/mods?api_key=${key}&${rest}`;
const single = ({ game, key, mods: [mod] }: Filled) => `/v1/games/${game}/mods/${mod}?api_key=${key}`;

const muted = { here: new Set<number>(), there: new Set<number>() };
let edits = 0;
const toggleMute = ({ tokens, others }: Content, connection: number, side: Side) => {
  const method = muted[side].delete(connection) ? 'DELETE' : muted[side].add(connection) && 'POST';
  const more = `authorization: Bearer ${tokens[connection]}\r\ncontent-length: 0\r\n`;
  return head(method, `/v1/users/${others[connection]}/mute`, more);
};
const editGame = ({ game, tokens }: Content, connection: number) => {
  edits += 1;
  const body = `summary=${encodeURIComponent(`Changed by writer ${connection}, time ${edits}`)}`;
  const more = `authorization: Bearer ${tokens[connection]}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n`;
  return head('PUT', `/v1/games/${game + connection}`, more) + body;
};

const CASES: readonly Case[] = [
  read('ping, cached', 'cached', () => '/v1/ping'),
  read('game, cached', 'cached', game),
  read('page of 100 games, cached', 'cached', games),
  read('page of 100 mods, cached', 'browsed', mods('_limit=100')),
  read('page of 100 mods, cached, compressed', 'browsed', mods('_limit=100'), 'accept-encoding: gzip\r\n'),
  read('ping, uncached', 'uncached', () => '/v1/ping'),
  read('game, uncached', 'uncached', game),
  read('page of 100 games, uncached', 'uncached', games),
  read('single mod, uncached', 'searched', single),
  read('page of 100 mods, uncached', 'searched', mods('_limit=100')),
  read('two tags by popularity, uncached', 'searched', mods('tags=Gameplay,Realistic&_sort=popular&_limit=100')),
  read('search, uncached', 'searched', mods('_q=dragon&_limit=100')),
  write('durable mute', toggleMute),
  write('durable edit of a game', editGame),
].filter(({ name }) => only.test(name));

async function perCpuSecond({ server, requests }: Case, side: Side, callers: Callers, milliseconds: number) {
  const { process: child } = server(servers[side]);
  const before = await cpuSeconds(child);
  const answers = await callers.call(requests(servers[side], side), milliseconds);
  return answers / ((await cpuSeconds(child)) - before);
}

const quantile = (numbers: readonly number[], share: number) =>
  [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) * share)]!;

console.log('| case | here, requests per CPU second | there | here / there | quartiles |\n|---|---|---|---|---|');
keepOnCore(process.pid, CALLERS_CORE);
for (const side of SIDES)
  for (const { process: child } of Object.values(servers[side])) keepOnCore(child.pid!, SERVERS_CORE);
for (const each of CASES) {
  const open = (side: Side) => Callers.open(each.server(servers[side]).port, each.connections);
  const callers: Record<Side, Callers> = { here: await open('here'), there: await open('there') };
  for (const side of SIDES) await perCpuSecond(each, side, callers[side], Number(options['warm-up']));
  const speeds: Record<Side, number[]> = { here: [], there: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const side of round % 2 ? SIDES.toReversed() : SIDES)
      speeds[side].push(await perCpuSecond(each, side, callers[side], MILLISECONDS));
  for (const side of SIDES) callers[side].close();
  const ratios = speeds.here.map((speed, round) => speed / speeds.there[round]!);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
  const [here, there] = SIDES.map((side) => Math.round(quantile(speeds[side], 0.5)));
  console.log(`| ${each.name} | ${here} | ${there} | **${middle}** | ${low} to ${high} |`);
}

/** Starts the program on the filled game, as operators do, and resolves when it is ready. */
async function serve(side: Side): Promise<{ process: ChildProcess }> {
  const child = spawn(process.execPath, [join(CHECKOUTS[side], 'bin/modstead.mjs'), 'serve', '--json'], {
    cwd: CHECKOUTS[side],
    env: { ...process.env, ...SETTINGS, MODSTEAD_DATA: join(folder, `${side}-mods`) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`serve of ${side} ended with ${code}`)));
  await Promise.race([once(child.stdout, 'data'), ended]);
  return { process: child };
}

const megabytes = ({ process: { pid } }: { process: ChildProcess }) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024;
for (const which of ['cached', 'searched'] as const) {
  const [here, there] = [megabytes(servers.here[which]), megabytes(servers.there[which])];
  const name = `megabytes after the run, ${which}`;
  console.log(`| ${name} | ${here.toFixed(0)} | ${there.toFixed(0)} | ${(here / there).toFixed(3)} | |`);
}
for (const side of SIDES) for (const { process: child } of Object.values(servers[side])) child.kill();

const STARTED = { cpu: 'CPU seconds to start', rss: 'megabytes after start', idle: 'megabytes when idle' };
type Started = Record<keyof typeof STARTED, number>;

async function startOnce(side: Side): Promise<Started> {
  const server = await serve(side);
  const started = { cpu: cpuSecondsOf(server.process.pid!), rss: megabytes(server) };
  await passes(Number(options['idle-seconds']) * 1_000);
  const idle = megabytes(server);
  server.process.kill();
  return { ...started, idle };
}

const begun: Record<Side, Started[]> = { here: [], there: [] };
for (let turn = 0; turn < Number(options.starts); turn += 1)
  for (const side of turn % 2 ? SIDES.toReversed() : SIDES) begun[side].push(await startOnce(side));
for (const [what, name] of Number(options.starts) > 0 ? Object.entries(STARTED) : []) {
  const values = (side: Side) => begun[side].map((each) => each[what as keyof Started]);
  const [here, there] = SIDES.map((side) => quantile(values(side), 0.5)) as [number, number];
  console.log(`| ${name} | ${here.toFixed(2)} | ${there.toFixed(2)} | ${(here / there).toFixed(3)} | |`);
}
process.exit(0);
