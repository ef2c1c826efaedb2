import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { addGame } from '../../src/catalogue/games/games.ts';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addUser } from '../../src/people/users/users.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { START_OPTIONS } from '../commands.ts';
import { temporaryDatabases, temporaryFolder } from '../temporary.ts';
import { startAhead } from './ahead.ts';

const WRITERS = 16;
/** Half of the CPU time of a start is compiling; the service uses the same cache. */
const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/modstead');
const OWN_MODULES = new URL('../../bin/own-modules.mjs', import.meta.url).href;

/** A writer edits one game repeatedly, and records the last acknowledged and the last attempted value. */
export interface Writer {
  readonly gameId: number;
  readonly token: string;
  acknowledged: string;
  attempted: string;
}

export interface CrashResult {
  readonly loops: number;
  readonly acknowledged: number;
  readonly lost: string[];
  readonly slowestStartMs: number;
}

/** Where the service runs, and how it ends. */
export interface Machine {
  /** Does nothing while the power is on. */
  on(): Promise<void>;
  start(): Promise<Running>;
  /** Ends the service without a warning, at the least. */
  cut(service: Running): Promise<void>;
}

export type Surroundings = <T>(
  work: (env: Record<string, string>, folder: string, machine: Machine) => Promise<T>,
) => Promise<T>;

/** Repeatedly kills the service with -9 while 16 clients write, and finds acknowledged writes that are lost. */
export function crashLoop(
  loops: number,
  said: (line: string) => void = () => {},
  surrounded: Surroundings = withService,
): Promise<CrashResult> {
  return surrounded(async (env, _folder, machine) => {
    const writers = await makeWriters(env);
    const lost: string[] = [];
    let acknowledged = 0;
    let slowestStartMs = 0;
    for (let loop = 1; loop <= loops; loop += 1) {
      const startedAt = performance.now();
      const service = await machine.start();
      slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt);
      lost.push(...(await findLost(service.port, writers)));
      acknowledged += await writeUntilCut(machine, service, writers);
      said(`loop ${loop} of ${loops}: ${acknowledged} writes acknowledged, ${lost.length} lost`);
    }
    await machine.on();
    const service = await startAhead(env);
    lost.push(...(await findLost(service.port, writers)));
    await service.stop();
    return { loops, acknowledged, lost, slowestStartMs };
  });
}

/** Runs the work with the settings of a service that has its own temporary folder and databases. */
export const withService: Surroundings = async (work) => {
  const folder = temporaryFolder('crash');
  const databases = await temporaryDatabases(folder);
  const env = { ...settingsOf(folder), ...databases.settings };
  const machine: Machine = { on: async () => {}, start: () => start(env), cut: (service) => kill(service.process) };
  try {
    return await work(env, folder, machine);
  } finally {
    await databases.drop();
    rmSync(folder, { recursive: true, force: true });
  }
};

export const settingsOf = (folder: string): Record<string, string> => ({
  MODSTEAD_DATA: folder,
  MODSTEAD_PORT: '0',
  MODSTEAD_PUBLIC_PORT: '443',
  MODSTEAD_TRUST_PROXY: '127.0.0.1',
  MODSTEAD_RATE_LIMITS: 'off',
  MODSTEAD_DRAIN_SECONDS: '1',
  MODSTEAD_LOG: 'off',
});

export async function makeWriters(env: Record<string, string>): Promise<Writer[]> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  const writers = await app.db.write(async (transaction) => {
    const owner = await addUser(app, transaction, { username: 'Crash' });
    const made: Writer[] = [];
    for (let i = 0; i < WRITERS; i += 1) {
      const game = await addGame(app, transaction, {
        name: `Crash ${i}`,
        ownerId: owner.id,
        accepted: true,
        summary: '0',
      });
      const { access_token } = await issueToken(app, transaction, { userId: owner.id });
      made.push({ gameId: game.id, token: access_token, acknowledged: '0', attempted: '0' });
    }
    return made;
  });
  await closeApp(app);
  return writers;
}

export interface Running {
  readonly process: ChildProcess;
  readonly port: number;
}

/** Starts the service in a process that can be killed, with its clock this many seconds ahead. */
export function start(env: Record<string, string>, laterSeconds = 0): Promise<Running> {
  const child = fork(join(import.meta.dirname, 'service.ts'), [String(laterSeconds)], {
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    execArgv: [...START_OPTIONS, `--import=${OWN_MODULES}`],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', ({ port }: { port: number }) => resolve({ process: child, port }));
    child.once('exit', (code) => reject(new Error(`the service ended with ${code} before it was ready`)));
  });
}

export const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

export async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function writeUntilCut(machine: Machine, service: Running, writers: readonly Writer[]): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const state = { killed: false, acknowledged: 0 };
  const enough = Promise.withResolvers<void>();
  const writing = writers.map(async (writer) => {
    while (!state.killed) {
      writer.attempted = String(Number(writer.attempted) + 1);
      const answer = await send(service.port, agent, 'PUT', writer, `summary=${writer.attempted}`).catch(
        () => undefined,
      );
      if (answer?.status !== 200) return;
      writer.acknowledged = writer.attempted;
      state.acknowledged += 1;
      if (state.acknowledged > WRITERS) enough.resolve();
    }
  });
  // Waits for some acknowledged writes, however slow the machine is, and then kills at a random moment.
  await Promise.race([enough.promise, Promise.all(writing)]);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 700));
  state.killed = true;
  await machine.cut(service);
  await Promise.all(writing);
  agent.destroy();
  return state.acknowledged;
}

/** Each game must have its last acknowledged value, or the one that was attempted after it. */
async function findLost(port: number, writers: readonly Writer[]): Promise<string[]> {
  const agent = new Agent({ keepAlive: true });
  const lost: string[] = [];
  for (const writer of writers) {
    const { body } = await send(port, agent, 'GET', writer);
    const found = Number((JSON.parse(body) as { summary: string }).summary);
    if (found < Number(writer.acknowledged) || found > Number(writer.attempted))
      lost.push(
        `game ${writer.gameId}: acknowledged ${writer.acknowledged}, attempted ${writer.attempted}, found ${found}`,
      );
    writer.acknowledged = String(found);
    writer.attempted = String(found);
  }
  agent.destroy();
  return lost;
}

export function send(
  port: number,
  agent: Agent,
  method: string,
  writer: Writer,
  body?: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { 'x-forwarded-proto': 'https', authorization: `Bearer ${writer.token}` };
    if (body) headers['content-type'] = 'application/x-www-form-urlencoded';
    const sent = request(
      { port, host: '127.0.0.1', agent, method, path: `/v1/games/${writer.gameId}`, headers },
      (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
