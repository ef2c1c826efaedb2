import { statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { kill, start, withService } from '../crash/crash.ts';
import { ask, type Door } from '../fleet/doors.ts';
import { makeUploaders } from '../fleet/uploaders.ts';

const CLIENTS = 16;
const LOOK_MS = 20;
const WRITES_BEFORE = 1_000;
/** Long texts fill the log soon. */
const TEXT = 'A long text. '.repeat(3_000);

export interface WalResult {
  /** Bytes of the log after writes without a hindrance, at its longest, and once it could be shortened. */
  readonly usual: number;
  readonly longest: number;
  readonly after: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Reads that failed while writes were refused. */
  readonly readsFailed: number;
  readonly wrong: readonly string[];
}

/** Another program reads an SQLite database and does not end, while clients write until they are refused. */
export function hangingReader(say: (line: string) => void): Promise<WalResult> {
  return withService(async (env, folder) => {
    const file = join(folder, 'production', 'modstead.sqlite');
    const wal = () => statSync(`${file}-wal`).size;
    const service = await start(env);
    const door = { host: '127.0.0.1', port: service.port };
    const agent = new Agent({ keepAlive: true });
    const reader = new DatabaseSync(file);
    try {
      const clients = new Clients(door, agent, await makeUploaders({ ...env, MODSTEAD_PORT: '8443' }, CLIENTS));
      await clients.write(WRITES_BEFORE);
      const usual = wal();
      say(`the log has ${megabytes(usual)} after ${clients.acknowledged} writes; now a reader hangs`);
      reader.exec('begin; select * from games');
      await clients.write(Number.POSITIVE_INFINITY);
      const longest = wal();
      say(`writes are refused with a log of ${megabytes(longest)}, after ${clients.acknowledged} writes`);
      const readsFailed = await clients.failedReads();
      reader.exec('commit');
      await clients.again();
      while (wal() > usual && wal() > KEPT_BYTES) await pause(LOOK_MS);
      const { acknowledged, refused, wrong } = clients;
      return { usual, longest, after: wal(), acknowledged, refused, readsFailed, wrong };
    } finally {
      reader.close();
      await kill(service.process);
      agent.destroy();
    }
  });
}

const KEPT_BYTES = 64 * 1024 ** 2;
export const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;

interface Writer {
  readonly mod: string;
  readonly token: string;
}

class Clients {
  acknowledged = 0;
  refused = 0;
  readonly wrong: string[] = [];
  readonly #door: Door;
  readonly #agent: Agent;
  readonly #writers: readonly Writer[];

  constructor(door: Door, agent: Agent, writers: readonly Writer[]) {
    this.#door = door;
    this.#agent = agent;
    this.#writers = writers;
  }

  /** Until this many writes are acknowledged in all, or one is refused. */
  async write(until: number): Promise<void> {
    let isRefused = false;
    await Promise.all(
      this.#writers.map(async (writer) => {
        while (!isRefused && this.acknowledged < until) if (!(await this.#write(writer))) isRefused = true;
      }),
    );
  }

  /** Until each has written. */
  async again(): Promise<void> {
    await Promise.all(
      this.#writers.map(async (writer) => {
        while (!(await this.#write(writer))) await pause(LOOK_MS);
      }),
    );
  }

  async failedReads(): Promise<number> {
    const asked = this.#writers.map(({ mod, token }) =>
      ask(this.#door, this.#agent, { method: 'GET', path: mod, token }),
    );
    return (await Promise.all(asked)).filter((answer) => answer?.status !== 200).length;
  }

  async #write({ mod, token }: Writer): Promise<boolean> {
    const body = `description=${encodeURIComponent(`${TEXT}${this.acknowledged}`)}`;
    const answer = await ask(this.#door, this.#agent, { method: 'PUT', path: mod, token, body });
    if (answer?.status === 200) this.acknowledged += 1;
    else if (answer?.status === 503) this.refused += 1;
    else this.wrong.push(`PUT ${answer?.status}: ${answer?.body.slice(0, 200)}`);
    return answer?.status === 200;
  }
}
