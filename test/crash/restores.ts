import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryFolder } from '../temporary.ts';
import { isRunning, kill, makeWriters, type Running, send, start, type Writer } from './crash.ts';

/** Copies a database continuously, and restores it after its disk is lost. */
export interface Copies {
  /** The settings of a service on this database. */
  readonly settings: Record<string, string>;
  /** Starts copying, once the service has created or migrated the database. */
  begin(): Promise<void>;
  /** Kills the database and whatever copies it, and removes its disk. */
  lose(): Promise<void>;
  /** Restores the newest state, or that of a moment. */
  restore(moment?: Date): Promise<void>;
  stop(): Promise<void>;
}

export interface DrillResult {
  readonly acknowledged: number;
  readonly lost: number;
  /** The age of the oldest lost write when the disk was lost. */
  readonly recoveryPointSeconds: number;
  /** From the loss to the first response of the restored service. */
  readonly recoverySeconds: number;
  /** Values that do not belong to the moment that the second restore asked for. */
  readonly wrongAtMoment: string[];
}

interface Acknowledged {
  readonly value: number;
  readonly at: number;
}

const PAUSE_MS = 50;

/**
 * Writes for some seconds, loses the disk without a warning, restores, and compares. Then it does so again, to a moment
 * in the middle of the writing.
 */
export async function restoreDrill(
  copiesIn: (folder: string) => Promise<Copies>,
  seconds: number,
  said: (line: string) => void,
): Promise<DrillResult> {
  const folder = temporaryFolder('restore');
  const data = join(folder, 'data');
  mkdirSync(data);
  const copies = await copiesIn(folder);
  const env: Record<string, string> = {
    MODSTEAD_DATA: data,
    MODSTEAD_SECRET: randomBytes(32).toString('hex'),
    MODSTEAD_PORT: '0',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_LOG: 'off',
    ...copies.settings,
  };
  let service: Running | undefined;
  try {
    const writers = await makeWriters(env);
    await copies.begin();
    service = await start(env);
    said(`writing for ${seconds} seconds`);
    const { history, moment } = await writeFor(service, writers, seconds, async (running) => {
      await kill(running.process);
      await copies.lose();
    });
    const lostAt = Date.now();
    await copies.restore();
    service = await start(env);
    const found = await valuesOf(service, writers);
    const recoverySeconds = (Date.now() - lostAt) / 1_000;
    const lost = history.flatMap((writes, index) => writes.filter(({ value }) => value > found[index]!));
    const oldest = Math.min(lostAt, ...lost.map(({ at }) => at));
    said(`restored after ${recoverySeconds.toFixed(1)} s; restoring the state of ${moment.toISOString()}`);
    await kill(service.process);
    await copies.lose();
    await copies.restore(moment);
    service = await start(env);
    return {
      acknowledged: history.reduce((sum, writes) => sum + writes.length, 0),
      lost: lost.length,
      recoveryPointSeconds: (lostAt - oldest) / 1_000,
      recoverySeconds,
      wrongAtMoment: wrongAt(await valuesOf(service, writers), history, moment),
    };
  } finally {
    if (service && isRunning(service.process)) await kill(service.process);
    await copies.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeFor(
  service: Running,
  writers: readonly Writer[],
  seconds: number,
  end: (service: Running) => Promise<void>,
): Promise<{ history: Acknowledged[][]; moment: Date }> {
  const agent = new Agent({ keepAlive: true });
  const state = { ended: false };
  const history = writers.map((): Acknowledged[] => []);
  const writing = writers.map(async (writer, index) => {
    for (let value = 1; !state.ended; value += 1) {
      const answer = await send(service.port, agent, 'PUT', writer, `summary=${value}`).catch(() => undefined);
      if (answer?.status !== 200) return;
      history[index]!.push({ value, at: Date.now() });
      await wait(PAUSE_MS);
    }
  });
  await wait((seconds * 1_000) / 2);
  const moment = new Date();
  await wait((seconds * 1_000) / 2);
  state.ended = true;
  await end(service);
  await Promise.all(writing);
  agent.destroy();
  return { history, moment };
}

async function valuesOf({ port }: Running, writers: readonly Writer[]): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const values: number[] = [];
  for (const writer of writers) {
    const { body } = await send(port, agent, 'GET', writer);
    values.push(Number((JSON.parse(body) as { summary: string }).summary));
  }
  agent.destroy();
  return values;
}

/** Copies are ordered by their own clock, to the second on SQLite. */
const TOLERANCE_MS = 2_000;

function wrongAt(found: readonly number[], history: readonly Acknowledged[][], moment: Date): string[] {
  const before = (writes: readonly Acknowledged[], time: number) => writes.findLast(({ at }) => at <= time)?.value ?? 0;
  return found.flatMap((value, index) => {
    const writes = history[index]!;
    const least = before(writes, moment.getTime() - TOLERANCE_MS);
    const most = before(writes, moment.getTime() + TOLERANCE_MS) + 1;
    return value >= least && value <= most ? [] : [`writer ${index}: ${value}, not from ${least} to ${most}`];
  });
}
