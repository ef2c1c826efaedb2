import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { within } from './cluster.ts';
import type { Door } from './doors.ts';
import { type Machine, on } from './network.ts';

const READY_MS = 120_000;

export interface RunningService extends Door {
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

export interface ServiceStart {
  /** The checkout whose program runs. */
  readonly checkout: string;
  readonly env: Record<string, string>;
  readonly port: number;
  readonly folder: string;
  readonly machine?: Machine;
}

/** Runs a command of the service to its end. */
export async function runCommand(command: string, start: Omit<ServiceStart, 'port'>): Promise<void> {
  const child = launch(command, { ...start, port: 0 });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`modstead ${command} ended with ${code}: ${lastWords(start.folder, command)}`);
}

/** Starts `serve` and waits until it is ready. */
export async function startService(start: ServiceStart): Promise<RunningService> {
  const child = launch('serve', start);
  const door = { host: start.machine?.address ?? '127.0.0.1', port: start.port };
  const stop = async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await gone;
  };
  try {
    await within(READY_MS, `a service ready at ${door.host}:${door.port}`, async () => {
      if (child.exitCode !== null) throw new Error(`serve ended: ${lastWords(start.folder, nameOf('serve', start))}`);
      return (await readinessOf(door)) === 200;
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { ...door, child, stop };
}

const LAST_CHARACTERS = 1_000;
const lastWords = (folder: string, name: string) => readFileSync(logOf(folder, name), 'utf8').slice(-LAST_CHARACTERS);
const nameOf = (command: string, { machine, port }: ServiceStart) =>
  port ? `${command}-${machine?.name ?? port}` : command;
const logOf = (folder: string, name: string) => join(folder, `modstead-${name}.log`);

function launch(command: string, start: ServiceStart): ChildProcess {
  const { checkout, env, port, folder, machine } = start;
  mkdirSync(folder, { recursive: true });
  const log = openSync(logOf(folder, nameOf(command, start)), 'a');
  const words = [...(machine ? on(machine) : []), process.execPath, join(checkout, 'bin/modstead.mjs'), command];
  const settings = { ...process.env, ...env, MODSTEAD_PORT: String(port || 8_443) };
  return spawn(words[0]!, words.slice(1), { env: settings, cwd: checkout, stdio: ['ignore', log, log] });
}

function readinessOf({ host, port }: Door): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { 'x-forwarded-proto': 'https' };
    const asked = request({ host, port, path: '/readyz', timeout: 1_000, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}
