import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { rangeOf } from './figures.ts';
import { type Forked, fill, newPostgres, SETTINGS, startForked } from './forked.ts';
import { type Load, load } from './load.ts';
import { stolenDuring, Undisturbed } from './stolen.ts';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    milliseconds: { type: 'string', default: '4000' },
    'warm-up': { type: 'string', default: '4000' },
    mods: { type: 'string', default: '9501' },
    database: { type: 'string', default: 'both' },
    only: { type: 'string', default: '' },
    'stolen-max': { type: 'string', default: '2' },
    peer: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`npm run bench [-- --runs 3 --milliseconds 4000 --warm-up 4000 --mods 9501 --database both|sqlite|postgres
  --only PATTERN --stolen-max 2 --peer NAME=URL[#PID]]
Measures what users do, with the response cache off: 32 readers of pages and mods, 64 writers that subscribe, rate and
comment. Each run starts new services. Prints the median and the range over the runs: CPU milliseconds per request of the
service and of the database server together, requests per second, and syncs of PostgreSQL's log per write. The load
generator uses the same cores. A peer is any page of another server; with the id of its main process, CPU time is that of the
process and its descendants. A measurement is repeated if the host of a virtual machine took more than 2 % of its CPU time.
MODSTEAD_TEST_POSTGRES_URL names a server on this machine instead of a temporary one.`);
  process.exit(0);
}
const only = new RegExp(options.only);
const READERS = 32;
const WRITERS = 64;
/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

interface Stat {
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended. */
  readonly ended: number;
}
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! };
  } catch {
    return undefined;
  }
}

/** CPU seconds of a process and all its descendants so far. */
function cpuSeconds(root: number): number {
  const all = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (stat) all.set(Number(name), stat);
  }
  const of = (pid: number): number => {
    const { own, ended } = all.get(pid) ?? { own: 0, ended: 0 };
    return [...all].reduce((sum, [child, { parent }]) => (parent === pid ? sum + of(child) : sum), own + ended);
  };
  return of(root) / TICKS_PER_SECOND;
}

type Name = 'sqlite' | 'postgres';
interface Content {
  readonly game: number;
  readonly key: string;
  readonly tokens: readonly string[];
  readonly mods: readonly number[];
}
type Service = Forked & Content;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const settingsOf = (name: Name, url?: string): Record<string, string> => ({
  ...SETTINGS,
  MODSTEAD_CACHE_MB: '0',
  MODSTEAD_DATA: join(folder, name),
  BENCH_MODS: options.mods,
  ...(url && { MODSTEAD_DATABASE_URL: url }),
});

/** The main process of the server, whose children serve connections. */
async function postgresAt(url: string): Promise<{ main: number; client: pg.Client }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const stat = statOf(rows[0].pid);
  if (!stat) throw new Error('the CPU time of a PostgreSQL on another machine cannot be measured');
  return { main: stat.parent, client };
}

/** Servers before version 18 count syncs elsewhere. */
async function syncsOf(client: pg.Client): Promise<number> {
  const now = "select sum(fsyncs) as syncs from pg_stat_io where object = 'wal'";
  const { rows } = await client.query(now).catch(() => client.query('select wal_sync as syncs from pg_stat_wal'));
  return Number(rows[0].syncs);
}

interface Database {
  readonly name: Name;
  readonly env: Record<string, string>;
  /** CPU seconds of the server so far. */
  readonly cpu: () => number;
  readonly syncs: () => Promise<number>;
  /** As the server does by itself within a minute: it keeps plans that it made when tables were empty until then. */
  readonly analyze: () => Promise<unknown>;
}

const databases: Database[] = [];
if (options.database !== 'postgres')
  databases.push({
    name: 'sqlite',
    env: settingsOf('sqlite'),
    cpu: () => 0,
    syncs: async () => Number.NaN,
    analyze: async () => {},
  });
if (options.database !== 'sqlite') {
  const url = await newPostgres();
  const { main, client } = await postgresAt(url);
  const env = settingsOf('postgres', url);
  databases.push({
    name: 'postgres',
    env,
    cpu: () => cpuSeconds(main),
    syncs: () => syncsOf(client),
    analyze: () => client.query('analyze'),
  });
}
for (const { env } of databases) {
  mkdirSync(env['MODSTEAD_DATA']!, { recursive: true });
  await fill(env);
}

/** Each connection is a user with an address of their own, as the proxy in front of a service tells it. */
const head = (connection: number, method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\nx-forwarded-for: 10.0.0.${connection + 1}\r\n${more}\r\n`;

interface Case {
  readonly name: string;
  readonly connections: number;
  readonly isWrite?: boolean;
  /** Returns the requests of each connection, one after the other. */
  readonly requests: (service: Service) => (connection: number) => Buffer;
}

const reading = (name: string, pathOf: (service: Service, turn: number) => string): Case => ({
  name,
  connections: READERS,
  requests: (service) => {
    let turn = 0;
    return (connection) => Buffer.from(head(connection, 'GET', pathOf(service, turn++)));
  },
});
const ofGame = ({ game, key }: Service, rest: string) =>
  `/v1/games/${game}/mods${rest}${rest.includes('?') ? '&' : '?'}api_key=${key}`;

type Write = (turn: number) => { readonly method: string; readonly path: string; readonly form?: string };
/** A connection sends two requests of one player about one mod, then two of another player about the next mod. */
const writing = (name: string, write: Write): Case => ({
  name,
  connections: WRITERS,
  isWrite: true,
  requests: ({ game, tokens, mods }) => {
    const turns = new Map<number, number>();
    return (connection) => {
      const turn = turns.get(connection) ?? 0;
      turns.set(connection, turn + 1);
      const { method, path, form = '' } = write(turn);
      const pair = Math.floor(turn / 2);
      const mod = mods[(connection * 13 + pair) % mods.length];
      const token = tokens[(connection + WRITERS * pair) % tokens.length];
      const more = `authorization: Bearer ${token}\r\ncontent-length: ${form.length}\r\n${form && 'content-type: application/x-www-form-urlencoded\r\n'}`;
      return Buffer.from(head(connection, method, `/v1/games/${game}/mods/${mod}${path}`, more) + form);
    };
  },
});

/** Launchers and servers name many mods at once. */
const namedMods = ({ mods }: Service, count: number) =>
  Array.from({ length: count }, (_, index) => mods[(index * 7) % mods.length]).join(',');
const lookingUp = (count: number): Case => ({
  name: `lookup of ${count} mods`,
  connections: READERS,
  requests: (service) => {
    const body = JSON.stringify({ ids: JSON.parse(`[${namedMods(service, count)}]`) });
    const more = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    const path = `/v1/games/${service.game}/mods/lookup?api_key=${service.key}`;
    return (connection) => Buffer.from(head(connection, 'POST', path, more) + body);
  },
});

let comments = 0;
const CASES: readonly Case[] = [
  reading('page of 100 mods', (service) => ofGame(service, '?_limit=100')),
  reading('page of 100 mods among 500 ids', (service) =>
    ofGame(service, `?_limit=100&id-in=${namedMods(service, 500)}`),
  ),
  lookingUp(350),
  reading('two tags by popularity', (service) => ofGame(service, '?tags=Gameplay,Realistic&_sort=popular&_limit=100')),
  reading('search for a frequent word', (service) => ofGame(service, '?_q=dragon&_limit=100')),
  reading('single mod', (service, turn) => ofGame(service, `/${service.mods[turn % service.mods.length]}`)),
  writing('subscribe, unsubscribe', (turn) => ({ method: turn % 2 === 0 ? 'POST' : 'DELETE', path: '/subscribe' })),
  writing('rate, take back', (turn) => ({
    method: 'POST',
    path: '/ratings',
    form: `rating=${turn % 2 === 0 ? 1 : 0}`,
  })),
  writing('comment', () => ({
    method: 'POST',
    path: '/comments',
    form: `content=Comment+${process.pid}+${++comments}`,
  })),
].filter(({ name }) => only.test(name));

interface Measured {
  readonly service: number;
  readonly database: number;
  readonly perSecond: number;
  readonly syncs: number;
  /** The percentage of CPU time that the host took meanwhile. */
  readonly stolen: number;
}
const undisturbed = new Undisturbed(Number(options['stolen-max']));
const refusals = { count: 0 };
const results = new Map<string, Measured[]>();
const keep = (name: string, measured: Measured) => results.set(name, [...(results.get(name) ?? []), measured]);

async function measure(each: Case, service: Service, database: Database): Promise<Measured> {
  const of = { port: service.port, requests: each.requests(service), connections: each.connections, refusals };
  await load({ ...of, milliseconds: Number(options['warm-up']) });
  await database.analyze();
  return undisturbed.measure(() => measureOnce(each, of, service, database));
}

async function measureOnce(
  { isWrite }: Case,
  of: Omit<Load, 'milliseconds'>,
  { process: child }: Service,
  database: Database,
): Promise<Measured> {
  const counters = async () => [cpuSeconds(child.pid!), database.cpu(), await database.syncs()] as const;
  const before = await counters();
  const { result, stolen } = await stolenDuring(() => load({ ...of, milliseconds: Number(options.milliseconds) }));
  const { answers, seconds } = result;
  // The counts of the last three seconds are folded in, and the server reports its syncs, with a delay.
  if (isWrite) await wait(4_500);
  const after = await counters();
  const [ofService, ofDatabase, syncs] = after.map((value, i) => (value - before[i]!) / answers);
  return {
    service: ofService! * 1000,
    database: ofDatabase! * 1000,
    perSecond: answers / seconds,
    syncs: syncs!,
    stolen,
  };
}

async function measurePeer(peer: string): Promise<void> {
  const [, name = '', address = ''] = /^([^=]+)=(.+)$/.exec(peer) ?? [];
  const { port, pathname, search, host, hash } = new URL(address);
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: application/json\r\n\r\n`);
  const asked = { port: Number(port || 80), requests: () => request, connections: READERS };
  await load({ ...asked, milliseconds: Number(options['warm-up']) });
  const pid = Number(hash.slice(1));
  const cpu = () => (pid ? cpuSeconds(pid) : Number.NaN);
  const once = async (): Promise<Measured> => {
    const before = cpu();
    const { result, stolen } = await stolenDuring(() => load({ ...asked, milliseconds: Number(options.milliseconds) }));
    const { answers, seconds } = result;
    const service = ((cpu() - before) / answers) * 1000;
    return { service, database: 0, perSecond: answers / seconds, syncs: Number.NaN, stolen };
  };
  keep(`${name}: ${pathname}`, await undisturbed.measure(once));
}

console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}, ${options.mods} mods`,
);
for (let run = 1; run <= Number(options.runs); run += 1) {
  const services: Service[] = [];
  for (const { env } of databases) services.push(await startForked<Content>('mods.ts', env));
  // Databases take turns within a case, so that other work on the machine affects both alike.
  for (const each of CASES)
    for (const [i, database] of databases.entries())
      keep(`${each.name}, ${database.name}`, await measure(each, services[i]!, database));
  for (const peer of options.peer) await measurePeer(peer);
  for (const { process: child } of services) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.send('stop');
    await gone;
  }
  console.log(`run ${run} of ${options.runs} is done`);
}

const shown = (numbers: readonly number[], digits: number) =>
  numbers.some(Number.isNaN) ? '' : rangeOf(numbers, digits);
console.log(String(undisturbed));
if (refusals.count > 0) console.log(`${refusals.count} requests were refused and do not count as answers`);
console.log('\n| what | CPU ms per request | of the service | of the database | per second | log syncs per request |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const [name, all] of results)
  console.log(
    `| ${name} | ${[
      shown(
        all.map(({ service, database }) => service + database),
        2,
      ),
      shown(
        all.map(({ service }) => service),
        2,
      ),
      shown(
        all.map(({ database }) => database),
        2,
      ),
      shown(
        all.map(({ perSecond }) => perSecond),
        0,
      ),
      / (?:page|lookup|tags|search|single)/.test(` ${name}`)
        ? ''
        : shown(
            all.map(({ syncs }) => syncs),
            3,
          ),
    ].join(' | ')} |`,
  );
process.exit(0);
