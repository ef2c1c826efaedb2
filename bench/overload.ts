import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createDatabase, startPostgres } from '../test/postgres.ts';
import { startBaseline } from './baseline.ts';
import { Callers } from './callers.ts';
import { cpuSeconds, keepOnCore } from './cpu.ts';
import { median, rangeOf } from './figures.ts';
import type { Probe } from './health-prober.ts';
import { startNginx } from './nginx.ts';
import { optionsOf } from './options.ts';
import { startSampleService } from './sample-service.ts';

const options = optionsOf(
  'bench-overload',
  { runs: '3', turns: '10', 'turn-milliseconds': '750', rounds: '3', milliseconds: '2000', readers: '1000' },
  `Measures one process with 32 readers on connections that stay open, and with many. Cached reads on SQLite, and the same
bytes from a bare node:http and from nginx (Debian: apt-get install nginx-light), in many short turns on one core; the readers
have another, if there is taskset. Then uncached searches on PostgreSQL in longer rounds, from as many addresses and from one
address, whose readers are partly refused. Beside the readers another process checks health on new connections. Prints
answers per second and per second of the server's CPU time, the ratio of the two, refusals, how long health checks took, and memory.`,
);
const RUNS = Number(options.runs);
const TURNS = Number(options.turns);
/** At most 900: the bare server closes a connection that waits for longer than five turns of the others. */
const TURN_MS = Number(options['turn-milliseconds']);
const WARM_UP_TURNS = 8;
const SERVERS_CORE = 0;
const READERS_CORE = 1;
const ROUNDS = Number(options.rounds);
const MILLISECONDS = Number(options.milliseconds);
const READERS = Number(options.readers);
const READERS_BEST = 32;
const WARM_UP_MS = 2_000;

const get = (path: string, address = '') =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\n${address && `x-forwarded-for: ${address}\r\n`}\r\n`;

interface Service {
  readonly pid: number;
  readonly port: number;
}

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
const children = new Set<ChildProcess>();

async function start(name: string, settings: Record<string, string>): Promise<Service & { key: string }> {
  const { process: child, port, key } = await startSampleService(join(folder, name), settings);
  children.add(child);
  return { pid: child.pid!, port, key };
}

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);

interface Readers {
  readonly answers: Map<string, number>;
  end(): void;
}

/** Each connection sends the next request when the response to the previous one is complete. */
function startReaders({ port }: Service, count: number, request: (index: number) => string): Readers {
  const answers = new Map<string, number>();
  const sockets = Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.from(request(index));
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let missing = 0;
    socket.on('connect', () => socket.write(bytes));
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      if (missing === 0) {
        const gap = chunk.indexOf('\r\n\r\n');
        const head = chunk.toString('latin1', 0, gap);
        const status = head.slice(9, 12);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        missing = gap + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      }
      missing -= chunk.length;
      if (missing === 0) socket.write(bytes);
    });
    return socket;
  });
  return { answers, end: () => sockets.forEach((socket) => void socket.destroy()) };
}

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
const collect = (prober: ChildProcess) =>
  new Promise<Probe[]>((resolve) => {
    prober.once('message', (probes) => resolve(probes as Probe[]));
    prober.send('collect');
  });

interface Figures {
  readonly perCpuSecond: number;
  readonly refused: number;
  readonly probes: readonly Probe[];
}

async function measure(
  service: Service,
  prober: ChildProcess,
  readers: number,
  request: (index: number) => string,
): Promise<Figures> {
  const { answers, end } = startReaders(service, readers, request);
  await wait(WARM_UP_MS);
  answers.clear();
  await collect(prober);
  const before = cpuSeconds(service.pid);
  await wait(MILLISECONDS);
  const cpu = cpuSeconds(service.pid) - before;
  const counted = new Map(answers);
  end();
  const ok = counted.get('200') ?? 0;
  const all = [...counted.values()].reduce((sum, count) => sum + count, 0);
  return { perCpuSecond: ok / cpu, refused: all - ok, probes: await collect(prober) };
}

async function compare(name: string, service: Service, request: (index: number) => string): Promise<void> {
  const prober = startProber(service.port);
  await measure(service, prober, READERS_BEST, request);
  const megabytes = [residentMb(service.pid)];
  const few: Figures[] = [];
  const many: Figures[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    few.push(await measure(service, prober, READERS_BEST, request));
    many.push(await measure(service, prober, READERS, request));
  }
  megabytes.push(residentMb(service.pid));
  await wait(10_000);
  megabytes.push(residentMb(service.pid));
  prober.kill();
  for (const [readers, figures] of [
    [READERS_BEST, few],
    [READERS, many],
  ] as const) {
    const rates = figures.map((each) => each.perCpuSecond);
    const refused = figures.map((each) => each.refused).join(' + ');
    const health = described(figures.flatMap((each) => each.probes));
    console.log(`${name}, ${readers} readers: ${rangeOf(rates)} answers per CPU second, ${refused} refused; ${health}`);
  }
  const ratios = many.map((each, i) => each.perCpuSecond / few[i]!.perCpuSecond);
  console.log(
    `${name}: ${READERS} / ${READERS_BEST} readers: ${rangeOf(ratios, 2)}; MB before, after, 10 s later: ${megabytes.join(', ')}`,
  );
}

function startProber(port: number): ChildProcess {
  const prober = fork(join(import.meta.dirname, 'health-prober.ts'), [String(port)]);
  children.add(prober);
  return prober;
}

function described(probes: readonly Probe[]): string {
  const times = probes.map(({ ms }) => ms);
  const statuses = [...new Set(probes.map(({ status }) => status))].join(', ');
  return `${probes.length} health checks (${statuses}), median ${median(times).toFixed(0)} ms, slowest ${Math.max(...times).toFixed(0)} ms`;
}

/** A server whose readers keep their connections between turns. */
interface Crowded {
  readonly name: string;
  readonly pid: number;
  readonly few: Callers;
  readonly many: Callers;
  readonly prober: ChildProcess;
  readonly megabytes: number[];
}

interface Rate {
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

interface Turn {
  readonly few: Rate;
  readonly many: Rate;
  readonly probes: readonly Probe[];
}

async function crowded(name: string, { pid, port }: Service): Promise<Crowded> {
  keepOnCore(pid, SERVERS_CORE);
  const [few, many] = [await Callers.open(port, READERS_BEST), await Callers.open(port, READERS)];
  return { name, pid, few, many, prober: startProber(port), megabytes: [residentMb(pid)] };
}

async function oneTurn({ pid, few, many, prober }: Crowded, request: Buffer): Promise<Turn> {
  const rateWith = async (readers: Callers): Promise<Rate> => {
    const [began, before] = [performance.now(), cpuSeconds(pid)];
    const answers = await readers.call(() => request, TURN_MS);
    const seconds = (performance.now() - began) / 1_000;
    return { perCpuSecond: answers / (cpuSeconds(pid) - before), perSecond: answers / seconds };
  };
  const best = await rateWith(few);
  await collect(prober);
  return { few: best, many: await rateWith(many), probes: await collect(prober) };
}

/** The servers take turns. Per turn, what each of them did. */
async function oneRun(servers: readonly Crowded[], request: Buffer, turns: number): Promise<Turn[][]> {
  const taken: Turn[][] = [];
  for (let i = 0; i < turns; i += 1) {
    const turn: Turn[] = [];
    for (const server of servers) turn.push(await oneTurn(server, request));
    taken.push(turn);
  }
  return taken;
}

const RATES: readonly (readonly [string, (rate: Rate) => number])[] = [
  ['second', ({ perSecond }) => perSecond],
  ['CPU second', ({ perCpuSecond }) => perCpuSecond],
];

/** The servers share a core, on which they take turns. */
async function compareCached(services: Readonly<Record<string, Service>>, path: string): Promise<void> {
  const request = Buffer.from(get(path));
  const servers: Crowded[] = [];
  for (const [name, service] of Object.entries(services)) servers.push(await crowded(name, service));
  await oneRun(servers, request, WARM_UP_TURNS);
  const runs: Turn[][][] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await oneRun(servers, request, TURNS));
  const remember = () => servers.forEach(({ pid, megabytes }) => void megabytes.push(residentMb(pid)));
  remember();
  for (const { few, many } of servers) for (const readers of [few, many]) readers.close();
  await wait(10_000);
  remember();
  servers.forEach(({ name, prober, megabytes }, i) => {
    prober.kill();
    const medians = (figure: (turn: Turn) => number) => runs.map((run) => median(run.map((turn) => figure(turn[i]!))));
    console.log(`${name}: ${described(runs.flat().flatMap((turn) => turn[i]!.probes))}`);
    for (const [what, rate] of RATES) {
      const [few, many] = [rangeOf(medians((turn) => rate(turn.few))), rangeOf(medians((turn) => rate(turn.many)))];
      const ratio = rangeOf(
        medians((turn) => rate(turn.many) / rate(turn.few)),
        2,
      );
      console.log(
        `  answers per ${what}: ${few} with ${READERS_BEST} readers, ${many} with ${READERS}; ratio ${ratio}`,
      );
    }
    console.log(`  MB before, after, 10 s later: ${megabytes.join(', ')}`);
  });
}

async function nginxWith(body: Buffer): Promise<Record<string, Service>> {
  for (const file of ['body', 'healthz', 'readyz']) writeFileSync(join(folder, file), body);
  const found = `root ${folder}; open_file_cache max=10; location ~ ^/(healthz|readyz)$ {} location / { try_files /body =404; }`;
  const nginx = await startNginx(
    folder,
    `default_type application/json; keepalive_requests 1000000000; ${found}`,
    false,
  );
  if (!nginx) return {};
  children.add(nginx.process);
  return { nginx: { pid: nginx.process.pid!, port: nginx.port } };
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
const cached = await start('sqlite', {});
const game = `/v1/games/1?api_key=${cached.key}`;
const bare = await startBaseline();
children.add(bare.process);
for (const path of ['/healthz', '/readyz']) await bare.learn(cached.port, path);
const nginx = await nginxWith(await bare.learn(cached.port, game));
const raw = { pid: bare.process.pid!, port: bare.port };
const postgres = await startPostgres();
const uncached = await start('postgres', {
  MODSTEAD_DATABASE_URL: await createDatabase(postgres.url, `overload_${process.pid}`),
  MODSTEAD_CACHE_MB: '0',
});
// What is started later would inherit the core of the readers.
keepOnCore(process.pid, READERS_CORE);
await compareCached({ 'SQLite, cached': cached, 'bare node:http': raw, ...nginx }, game);
// Single objects are kept in memory, but a search asks the database.
const search = `/v1/games/1/mods?api_key=${uncached.key}&_q=river`;
await compare('PostgreSQL, many addresses', uncached, (i) => get(search, `10.0.${i >> 8}.${i & 255}`));
await compare('PostgreSQL, one address', uncached, () => get(search));
await postgres.stop();
process.exit(0);
