import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { migrations } from '../src/composition/migrations.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { systemClock } from '../src/platform/runtime/clock.ts';
import { createDatabase, startPostgres } from '../test/postgres.ts';

export interface Forked {
  readonly process: ChildProcess;
  readonly port: number;
}

/** Starts a service of this folder in its own process, with what it says about its content. */
export async function startForked<T extends object>(file: string, env: Record<string, string>): Promise<Forked & T> {
  const child = fork(join(import.meta.dirname, file), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve({ process: child, ...(message as { port: number } & T) }));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}

export const ask = <T>(child: ChildProcess, message: unknown): Promise<T> =>
  new Promise((resolve) => {
    child.once('message', (answer) => resolve(answer as T));
    child.send(message as string);
  });

/** Fills the data folder of these settings with mods, in a process that ends. */
export async function fill(env: Record<string, string>): Promise<void> {
  const filled = await startForked('fill.ts', env);
  await new Promise((resolve) => filled.process.once('exit', resolve));
}

/** Behind a proxy, and without limits that a benchmark would reach. */
export const SETTINGS = {
  MODSTEAD_PORT: '0',
  MODSTEAD_TRUST_PROXY: '127.0.0.1',
  MODSTEAD_PUBLIC_PORT: '443',
  MODSTEAD_RATE_LIMITS: 'address=100000000,address_writes=100000000,token=100000000,token_writes=100000000',
};

/** The address of a new database with tables on a server whose commits are durable. */
export async function newPostgres(): Promise<string> {
  const server = await startPostgres({ durable: true });
  const name = `modstead_bench_${process.pid}`;
  const url = await createDatabase(server.url, name);
  for (const each of [url, await createDatabase(server.url, `${name}_sandbox`)]) {
    const db = await openPostgres(each);
    await migrate(db, migrations, systemClock.now);
    await db.close();
  }
  return url;
}
