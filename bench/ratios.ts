import { mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBaseline } from './baseline.ts';
import { median } from './figures.ts';
import { ask, type Forked, fill, SETTINGS, startForked } from './forked.ts';
import { load, type Measured } from './load.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    milliseconds: { type: 'string', default: '1000' },
    mods: { type: 'string', default: '20000' },
    base: { type: 'string', default: '2000' },
    keep: { type: 'string' },
    only: { type: 'string', default: '' },
    'warm-up': { type: 'string', default: '10000' },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`npm run bench-ratios [-- --rounds 5 --milliseconds 1000 --warm-up 10000 --mods 20000 --base 2000 --keep FOLDER --only PATTERN]
Measures, in one interleaved run, node:http sending the same bytes and this service, over plain HTTP behind a
trusted proxy header, on this machine. Prints requests per second of the server's own CPU time, and their ratios within a
round (median over rounds), because a busy machine slows both sides alike. Lists of mods are measured in two games of
these sizes (docs/performance.md uses --mods 1000000 --base 10000). --keep stores the filled databases in a folder for the
next run. --only measures the cases whose names match the pattern.`);
  process.exit(0);
}
const ROUNDS = Number(options.rounds);
const MILLISECONDS = Number(options.milliseconds);
const WARM_UP_MILLISECONDS = Number(options['warm-up']);
const READERS = 32;
const WRITERS = 64;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Settings of the data folder with this number of mods. */
const settingsOf = (mods: string) => ({
  ...SETTINGS,
  BENCH_MODS: mods,
  MODSTEAD_DATA: join(options.keep ?? folder, `mods-${mods}`),
  MODSTEAD_JOBS: 'off',
});
type Content = { game: number; key: string; tokens: string[]; others: number[] };
const raw = await startBaseline();
const cached = await startForked<Content>('service.ts', { ...SETTINGS, MODSTEAD_DATA: join(folder, 'cached') });
const uncached = await startForked<Content>('service.ts', {
  ...SETTINGS,
  MODSTEAD_DATA: join(folder, 'uncached'),
  MODSTEAD_CACHE_MB: '0',
});

/** Filled one after the other, because each uses all cores. */
for (const mods of [options.base, options.mods]) await fill(settingsOf(mods));

type Filled = { game: number; key: string; token: string; mods: number[] };
const [small, large] = (await Promise.all(
  [options.base, options.mods].map((mods) =>
    startForked<Filled>('mods.ts', { ...settingsOf(mods), MODSTEAD_CACHE_MB: '0' }),
  ),
)) as [Forked & Filled, Forked & Filled];

/** The large game again, with the response cache on. */
const largeCached = await startForked<Filled>('mods.ts', settingsOf(options.mods));

const head = (method: string, path: string, more: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n${more}\r\n`;
const get = (path: string, more = '') => Buffer.from(head('GET', path, more));
const GZIP = 'accept-encoding: gzip\r\n';

interface Case {
  readonly name: string;
  readonly server: Forked;
  readonly requests: (connection: number) => Buffer;
  readonly connections: number;
}

let writes = 0;
const put = (connection: number) => {
  writes += 1;
  const body = `summary=${encodeURIComponent(`Changed by writer ${connection}, time ${writes}`)}`;
  const more = `authorization: Bearer ${uncached.tokens[connection]}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n`;
  return Buffer.from(head('PUT', `/v1/games/${uncached.game + connection}`, more) + body);
};

const urls = {
  ping: '/v1/ping',
  game: `/v1/games/${cached.game}?api_key=${cached.key}`,
  page: `/v1/games?api_key=${cached.key}&_limit=100`,
  home: '/',
};
for (const url of Object.values(urls)) await raw.learn(cached.port, url);
const withUncachedKey = (url: string) => url.replace(cached.key, uncached.key);
const read = (name: string, server: Forked, url: string, more = ''): Case => {
  const bytes = get(url, more);
  return { name, server, requests: () => bytes, connections: READERS };
};
/** The same queries for a small game and a large one. */
const modsPath = ({ game, key }: Filled, rest: string) =>
  `/v1/games/${game}/mods${rest.replace('?', `?api_key=${key}&`)}`;
/** The page size with which even the small game has a page 500. */
const DEEP_LIMIT = Math.max(1, Math.min(100, Math.floor(Number(options.base) / 600)));
/** The offset of page 500 with a hundred mods each, or of a page near the end in a smaller game. */
const deepOffset = (filled: Filled) => {
  const mods = Number(filled === large ? options.mods : options.base);
  return Math.min(499, Math.floor((mods * 0.9) / 100)) * 100;
};
const PAGES = {
  'browse, 100 mods': () => '?_limit=100',
  'two tags, by popularity': () => '?tags=Gameplay,Realistic&_sort=popular&_limit=100',
  'search for a frequent word': () => '?_q=dragon&_limit=100',
  'search for two words, one mistyped': () => '?_q=dragon+ovrhaul&_limit=100',
  'a single mod': ({ mods }: Filled) => `/${mods[7]}?`,
  [`page 500 by name, ${DEEP_LIMIT} mods each`]: () => `?_sort=name&_limit=${DEEP_LIMIT}&_offset=${499 * DEEP_LIMIT}`,
  [`from ${deepOffset(large)} on by name, 100 mods (small: from ${deepOffset(small)} on)`]: (filled: Filled) =>
    `?_sort=name&_limit=100&_offset=${deepOffset(filled)}`,
} satisfies Record<string, (filled: Filled) => string>;
const pages = Object.entries(PAGES).map(([name, rest]) => ({
  name,
  smallUrl: modsPath(small, rest(small)),
  largeUrl: modsPath(large, rest(large)),
  hasBaseline: /browse|single/.test(name),
}));
for (const { largeUrl, hasBaseline } of pages) if (hasBaseline) await raw.learn(large.port, largeUrl);
const browse = modsPath(largeCached, PAGES['browse, 100 mods']());
await raw.learn(largeCached.port, browse);
const editMod = (connection: number) => {
  writes += 1;
  const body = `summary=${encodeURIComponent(`Changed by writer ${connection}, time ${writes}`)}`;
  const more = `authorization: Bearer ${large.token}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n`;
  return Buffer.from(head('PUT', `/v1/games/${large.game}/mods/${large.mods[connection]}`, more) + body);
};
const only = new RegExp(options.only);
/** Cases that are compared run in turn, because a server that was idle for half a minute is slower. */
const groups: Case[][] = [
  [
    read('raw ping', raw, urls.ping),
    read('ping, cached', cached, urls.ping),
    read('raw game', raw, urls.game),
    read('game, cached', cached, urls.game),
    read('game, uncached', uncached, withUncachedKey(urls.game)),
    { name: 'durable write, a game’s edit', server: uncached, requests: put, connections: WRITERS },
    read('raw page of 100', raw, urls.page),
    read('page of 100, cached', cached, urls.page),
    read('page of 100, uncached', uncached, withUncachedKey(urls.page)),
  ],
  [
    read('raw home page', raw, urls.home),
    read('home page, cached', cached, urls.home),
    read('home page, cached, compressed', cached, urls.home, GZIP),
    read('home page, uncached', uncached, urls.home),
  ],
  [
    read('raw browse', raw, browse),
    read('browse, cached', largeCached, browse),
    read('browse, cached, compressed', largeCached, browse, GZIP),
  ],
  ...pages.map((page) => [
    ...(page.hasBaseline ? [read(`raw ${page.name}`, raw, page.largeUrl)] : []),
    read(`${page.name}, small`, small, page.smallUrl),
    read(`${page.name}, large`, large, page.largeUrl),
  ]),
].map((group) => group.filter(({ name }) => only.test(name)));
const cases = groups.flat();

interface Round {
  readonly perCpuSecond: number;
  readonly perSecond: number;
  readonly p99: number;
}

async function measure({ server, requests, connections }: Case, milliseconds: number): Promise<Round> {
  const cpu = async () => {
    const { user, system } = await ask<NodeJS.CpuUsage>(server.process, 'cpu');
    return (user + system) / 1e6;
  };
  const before = await cpu();
  const measured: Measured = await load({ port: server.port, requests, connections, milliseconds });
  const used = (await cpu()) - before;
  const sorted = measured.latencies.sort((a, b) => a - b);
  return {
    perCpuSecond: measured.answers / used,
    perSecond: measured.answers / measured.seconds,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

const results = new Map<string, Round[]>(cases.map(({ name }) => [name, []]));

console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; ${ROUNDS} rounds of ${MILLISECONDS} ms`,
);
const metrics = () => ask<{ commits: number; writes: number; rss: number }>(uncached.process, 'metrics');
const metricsBefore = await metrics();
for (const group of groups) {
  // The first seconds of a process include JIT compilation and are not measured.
  for (const each of group) await measure(each, WARM_UP_MILLISECONDS);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const each of group) results.get(each.name)!.push(await measure(each, MILLISECONDS));
  if (group.length > 0) console.log(`done: ${group.map(({ name }) => name).join('; ')}`);
}
const metricsAfter = await metrics();

/** Few readers, so that their latency shows the effect of the writers and not a queue of readers. */
const browsing = { port: large.port, requests: () => get(modsPath(large, '?_limit=20')), connections: 4 };
const p99 = ({ latencies }: Measured) => latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0;
const waits: { idle: number; busy: number }[] = [];
for (let round = 0; round < ROUNDS && only.test('p99 of readers'); round += 1) {
  const idle = p99(await load({ ...browsing, milliseconds: MILLISECONDS }));
  const [busy] = await Promise.all([
    load({ ...browsing, milliseconds: MILLISECONDS }),
    load({ port: large.port, requests: editMod, connections: 16, milliseconds: MILLISECONDS }),
  ]);
  waits.push({ idle, busy: p99(busy) });
}
const largeMetrics = await ask<{ rss: number }>(large.process, 'metrics');

/** NaN if one of the two was not measured. */
const ratio = (name: string, base: string) => {
  const rounds = results.get(name);
  const bases = results.get(base);
  if (!rounds || !bases) return Number.NaN;
  return median(rounds.map((round, i) => round.perCpuSecond / bases[i]!.perCpuSecond));
};
console.log('\n| what | requests per CPU second | requests per second | p99 ms |\n|---|---|---|---|');
for (const { name } of cases) {
  const rounds = results.get(name)!;
  console.log(
    `| ${name} | ${Math.round(median(rounds.map((r) => r.perCpuSecond)))} | ${Math.round(median(rounds.map((r) => r.perSecond)))} | ${median(rounds.map((r) => r.p99)).toFixed(2)} |`,
  );
}
const fsyncs = (metricsAfter.commits - metricsBefore.commits) / (metricsAfter.writes - metricsBefore.writes);
const goals: [string, number, string][] = [
  ['ping, cached / raw', ratio('ping, cached', 'raw ping'), '≥ 0.85'],
  ['game, cached / raw', ratio('game, cached', 'raw game'), '≥ 0.85'],
  ['page of 100, cached / raw', ratio('page of 100, cached', 'raw page of 100'), '≥ 0.85'],
  ['home page, cached / raw', ratio('home page, cached', 'raw home page'), '≥ 0.6'],
  ['game, uncached / raw', ratio('game, uncached', 'raw game'), '≥ 0.4'],
  ['page of 100, uncached / raw', ratio('page of 100, uncached', 'raw page of 100'), ''],
  ['durable edit of a game / game, uncached', ratio('durable write, a game’s edit', 'game, uncached'), ''],
  ['fsyncs per durable write', fsyncs, '< 0.2'],
  ...Object.keys(PAGES).map((name): [string, number, string] => [
    `${name}: cost in a game of ${options.mods} mods / of ${options.base}`,
    ratio(`${name}, small`, `${name}, large`),
    '≤ 1.3',
  ]),
  ['browse, uncached / raw', ratio('browse, 100 mods, large', 'raw browse, 100 mods'), '≥ 0.12'],
  ['a single mod, uncached / raw', ratio('a single mod, large', 'raw a single mod'), '≥ 0.5'],
  ['browse, cached / raw', ratio('browse, cached', 'raw browse'), '≥ 0.85'],
  ['browse, cached and compressed / raw uncompressed', ratio('browse, cached, compressed', 'raw browse'), '> 1.0'],
  [
    'p99 of readers, 16 writers / idle',
    waits.length > 0 ? median(waits.map(({ busy, idle }) => busy / idle)) : Number.NaN,
    '≤ 3',
  ],
  ['megabytes in memory, large game', largeMetrics.rss / 1e6, '< 300'],
];
const tokenCheck = await ask<number>(cached.process, 'token check');
goals.push(['µs of CPU per check of a known token', tokenCheck, '< 20']);
console.log('\n| ratio | measured | goal |\n|---|---|---|');
const measured = goals.filter(([, value]) => !Number.isNaN(value));
for (const [name, value, goal] of measured) console.log(`| ${name} | ${value.toFixed(3)} | ${goal} |`);
for (const child of [raw, cached, uncached, small, large, largeCached]) child.process.kill();
process.exit(0);
