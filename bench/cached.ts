import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { startBaseline } from './baseline.ts';
import { Callers } from './callers.ts';
import { cpuSeconds, keepOnCore } from './cpu.ts';
import { median, rangeOf } from './figures.ts';
import { type Forked, fill, newPostgres, SETTINGS, startForked } from './forked.ts';
import { optionsOf } from './options.ts';

const options = optionsOf(
  'bench-cached',
  { runs: '3', rounds: '20', milliseconds: '250', 'warm-up': '3000', mods: '9501' },
  `Compares cached responses of the service on both databases with a bare node:http server that sends the same bytes, with 32
readers on connections that stay open. The service and the bare server take turns on one core, and the readers have another,
if there is taskset. Turns are short and many, because the machine's speed changes within seconds. Prints requests per CPU
second of the server, as a share of those of the bare one: the median of each run's rounds, of all runs with their range.`,
);
const READERS = 32;
const SERVERS_CORE = 0;
const READERS_CORE = 1;

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

type Filled = Forked & { readonly game: number; readonly key: string; readonly mods: readonly number[] };

async function startOn(name: 'sqlite' | 'postgres'): Promise<Filled> {
  const env = {
    ...SETTINGS,
    BENCH_MODS: options.mods,
    MODSTEAD_DATA: join(folder, name),
    MODSTEAD_JOBS: 'off',
    ...(name === 'postgres' && { MODSTEAD_DATABASE_URL: await newPostgres() }),
  };
  mkdirSync(env.MODSTEAD_DATA, { recursive: true });
  await fill(env);
  return startForked('mods.ts', env);
}

/** Each request comes from another address, which has no token of the rate limits yet. */
const FROM_EVERYWHERE = 'page of 100 mods, each time from another address';

const PAGES: Record<string, (mods: readonly number[]) => string> = {
  'page of 100 mods': () => '?_limit=100',
  'two tags by popularity': () => '?tags=Gameplay,Realistic&_sort=popular&_limit=100',
  'search for a frequent word': () => '?_q=dragon&_limit=100',
  'single mod': (mods) => `/${mods[7]}?`,
  'page 90': () => '?_limit=100&_offset=8900',
  [FROM_EVERYWHERE]: () => '?_limit=100',
};

interface Server {
  readonly pid: number;
  readonly readers: Callers;
}
type Requests = () => Buffer;

const requestTo = (path: string, more = '') =>
  Buffer.from(
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n${more}\r\n`,
  );

let addresses = 0;

function requestsFor(page: string, path: string): Requests {
  const request = requestTo(path);
  if (page !== FROM_EVERYWHERE) return () => request;
  return () => {
    addresses += 1;
    const bytes = [addresses >> 16, addresses >> 8, addresses].map((bits) => bits & 255);
    return requestTo(path, `x-forwarded-for: 10.${bytes.join('.')}\r\n`);
  };
}

async function perCpuSecond({ pid, readers }: Server, requests: Requests, milliseconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  const answers = await readers.call(requests, milliseconds);
  return answers / (cpuSeconds(pid) - before);
}

const readersOf = async ({ process: { pid }, port }: Pick<Forked, 'process' | 'port'>): Promise<Server> => ({
  pid: pid!,
  readers: await Callers.open(port, READERS),
});

/** The median of one run. */
async function compared(raw: Server, service: Server, requests: Requests): Promise<{ own: number; share: number }> {
  const rounds: { own: number; share: number }[] = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const bare = await perCpuSecond(raw, requests, Number(options.milliseconds));
    const own = await perCpuSecond(service, requests, Number(options.milliseconds));
    rounds.push({ own, share: own / bare });
  }
  return { own: median(rounds.map(({ own }) => own)), share: median(rounds.map(({ share }) => share)) };
}

console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}`);
console.log(`\n| cached | requests per CPU second | of \`node:http\` |\n| --- | --- | --- |`);
const baseline = await startBaseline();
keepOnCore(process.pid, READERS_CORE);
keepOnCore(baseline.process.pid!, SERVERS_CORE);
for (const name of ['sqlite', 'postgres'] as const) {
  const service = await startOn(name);
  keepOnCore(service.process.pid!, SERVERS_CORE);
  const { game, key, mods, port } = service;
  for (const [page, rest] of Object.entries(PAGES)) {
    const path = `/v1/games/${game}/mods${rest(mods)}&api_key=${key}`;
    await baseline.learn(port, path);
    const requests = requestsFor(page, path);
    const raw = await readersOf(baseline);
    const own = await readersOf(service);
    for (const server of [raw, own]) await perCpuSecond(server, requests, Number(options['warm-up']));
    const runs: { own: number; share: number }[] = [];
    for (let run = 0; run < Number(options.runs); run += 1) runs.push(await compared(raw, own, requests));
    for (const { readers } of [raw, own]) readers.close();
    const perSecond = median(runs.map((run) => run.own));
    const share = rangeOf(
      runs.map((run) => run.share),
      2,
    );
    console.log(`| ${page}, ${name} | ${Math.round(perSecond)} | ${share} |`);
  }
  service.process.kill();
}
baseline.process.kill();
process.exit(0);
