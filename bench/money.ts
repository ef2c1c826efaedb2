import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrations } from '../src/composition/migrations.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { systemClock } from '../src/platform/runtime/clock.ts';
import { createDatabase, startPostgres } from '../test/postgres.ts';
import { startBaseline } from './baseline.ts';
import { median } from './figures.ts';
import { load } from './load.ts';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '10000000' },
    base: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '7' },
    milliseconds: { type: 'string', default: '1000' },
    database: { type: 'string', default: 'sqlite' },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log(`npm run bench-money [-- --entries 10000000 --base 100000 --rounds 7 --milliseconds 1000 --database sqlite|postgres]
Measures, in one interleaved run, 64 buyers who buy mods with tokens, 64 users who subscribe to mods, reads of a wallet,
and node:http sending the same bytes. Two services have ledgers of these sizes. Prints the medians of requests per second,
and of CPU time per request of the service's process.`);
  process.exit(0);
}
const WRITERS = 64;
const READERS = 32;
const WARM_UP_ROUNDS = 2;
const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly process: ChildProcess;
  readonly port: number;
}
interface Shop extends Started {
  readonly game: number;
  readonly tokens: readonly string[];
  readonly paid: readonly number[];
  readonly free: readonly number[];
}

async function start<T extends Started>(file: string, env: Record<string, string> = {}): Promise<T> {
  const child = fork(join(import.meta.dirname, file), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve({ process: child, ...(message as object) } as T));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}

const ask = <T>(child: ChildProcess, message: unknown): Promise<T> =>
  new Promise((resolve) => {
    child.once('message', (answer) => resolve(answer as T));
    child.send(message as string);
  });

const server = options.database === 'postgres' ? await startPostgres({ durable: true }) : undefined;
async function databaseFor(name: string): Promise<Record<string, string>> {
  if (!server) return {};
  const url = await createDatabase(server.url, name);
  for (const each of [url, await createDatabase(server.url, `${name}_sandbox`)]) {
    const database = await openPostgres(each);
    await migrate(database, migrations, systemClock.now);
    await database.close();
  }
  return { MODSTEAD_DATABASE_URL: url };
}
const shopWith = async (entries: string, at: number): Promise<Shop> =>
  start('money-service.ts', {
    MODSTEAD_PORT: '0',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_JOBS: 'off',
    MODSTEAD_LOG: 'error',
    MODSTEAD_DATA: join(folder, String(at)),
    BENCH_ENTRIES: entries,
    ...(await databaseFor(`bench_${at}`)),
  });
const raw = await startBaseline();
const small = await shopWith(options.base, 1);
const large = await shopWith(options.entries, 2);

const head = (method: string, path: string, token: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\nx-forwarded-proto: https\r\nauthorization: Bearer ${token}\r\n${more}\r\n`;

/** Each writer goes through the mods, so that no request is a repetition. */
function writing(shop: Shop, mods: readonly number[], what: 'checkout' | 'subscribe') {
  const turns = new Map<number, number>();
  return (connection: number): Buffer => {
    const turn = turns.get(connection) ?? 0;
    turns.set(connection, turn + 1);
    if (turn >= mods.length) throw new Error('There are too few mods for so many rounds.');
    const path = `/v1/games/${shop.game}/mods/${mods[turn]}/${what}`;
    const body = what === 'checkout' ? `idempotent_key=${mods[turn]}&subscribe=false` : '';
    const more = `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n`;
    return Buffer.from(head('POST', path, shop.tokens[connection]!, more) + body);
  };
}

const walletPath = ({ game }: Shop) => `/v1/me/wallets?game_id=${game}`;
const reading = (shop: Shop) => (connection: number) =>
  Buffer.from(head('GET', walletPath(shop), shop.tokens[connection]!));

await raw.learn(small.port, walletPath(small), { authorization: `Bearer ${small.tokens[0]}` });

interface Case {
  readonly name: string;
  readonly server: Started;
  readonly requests: (connection: number) => Buffer;
  readonly connections: number;
}
const CASES: readonly Case[] = [
  { name: 'subscribe', server: small, requests: writing(small, small.free, 'subscribe'), connections: WRITERS },
  { name: 'checkout', server: small, requests: writing(small, small.paid, 'checkout'), connections: WRITERS },
  { name: 'checkout, large', server: large, requests: writing(large, large.paid, 'checkout'), connections: WRITERS },
  { name: 'raw wallet', server: raw, requests: reading(small), connections: READERS },
  { name: 'wallet', server: small, requests: reading(small), connections: READERS },
  { name: 'wallet, large', server: large, requests: reading(large), connections: READERS },
];

interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function measure({ server: { process: child, port }, requests, connections }: Case): Promise<Round> {
  const cpuMs = async () => {
    const { user, system } = await ask<NodeJS.CpuUsage>(child, 'cpu');
    return (user + system) / 1_000;
  };
  const before = await cpuMs();
  const { answers, seconds } = await load({ port, requests, connections, milliseconds: Number(options.milliseconds) });
  return { perSecond: answers / seconds, cpuMs: ((await cpuMs()) - before) / answers };
}

const rounds = new Map(CASES.map(({ name }) => [name, [] as Round[]]));
for (let round = 0; round < Number(options.rounds) + WARM_UP_ROUNDS; round += 1)
  for (const each of CASES) {
    const measured = await measure(each);
    if (round >= WARM_UP_ROUNDS) rounds.get(each.name)!.push(measured);
  }

const of = (name: string, field: keyof Round) => rounds.get(name)!.map((round) => round[field]);
for (const { name } of CASES)
  console.log(
    `${name.padEnd(16)} ${Math.round(median(of(name, 'perSecond')))} per second, ${median(of(name, 'cpuMs')).toFixed(3)} ms of CPU each`,
  );
/** The ratio within a round, because a busy machine slows both sides alike. */
const ratio = (one: string, other: string, field: keyof Round) =>
  median(of(one, field).map((value, round) => value / of(other, field)[round]!)).toFixed(2);
console.log(`checkouts per second, of subscriptions: ${ratio('checkout', 'subscribe', 'perSecond')}`);
console.log(`wallet reads per second, of raw: ${ratio('wallet', 'raw wallet', 'perSecond')}`);
console.log(`wallet reads per CPU second, of raw: ${ratio('raw wallet', 'wallet', 'cpuMs')}`);
console.log(
  `CPU of a checkout with ${options.entries} entries, of that with ${options.base}: ${ratio('checkout, large', 'checkout', 'cpuMs')}`,
);
console.log(
  `CPU of a wallet read with ${options.entries} entries, of that with ${options.base}: ${ratio('wallet, large', 'wallet', 'cpuMs')}`,
);
for (const { process: child } of [raw, small, large]) child.disconnect();
await server?.stop();
