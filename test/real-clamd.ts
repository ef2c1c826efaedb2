import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { clamdAt } from '../src/platform/scanning/clamd.ts';
import { EICAR } from './zips.ts';

export const NOT_INSTALLED = 'clamd is not installed; npm run clamd-test installs it';
/** The maximum file size of the daemon. */
export const STREAM_MEGABYTES = 4;
const START_MS_MAX = 300_000;

export interface RealClamd {
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts the real daemon with a database of one signature; undefined if it is not installed. */
export async function startRealClamd(): Promise<RealClamd | undefined> {
  const isInstalled = await promisify(execFile)('clamd', ['--version']).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'modstead-clamd-'));
  const daemon = spawn('clamd', ['--config-file', configure(folder)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = async () => {
    await end(daemon);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const address = `unix:${socketIn(folder)}`;
    await untilUp(daemon, address);
    return { address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const socketIn = (folder: string) => join(folder, 'socket');

function configure(folder: string): string {
  // A body signature: any target type, at any offset.
  writeFileSync(join(folder, 'test.ndb'), `Test.Eicar:0:*:${Buffer.from(EICAR).toString('hex')}\n`);
  const settings = [
    `LocalSocket ${socketIn(folder)}`,
    `DatabaseDirectory ${folder}`,
    `TemporaryDirectory ${folder}`,
    `StreamMaxLength ${STREAM_MEGABYTES}M`,
    `MaxFileSize ${STREAM_MEGABYTES}M`,
    'Foreground yes',
    'MaxThreads 2',
    'AlertEncrypted yes',
    'AlertExceedsMax yes',
    ...(process.getuid?.() === 0 ? ['User root'] : []),
  ];
  const file = join(folder, 'clamd.conf');
  writeFileSync(file, `${settings.join('\n')}\n`);
  return file;
}

async function untilUp(daemon: ChildProcess, address: string): Promise<void> {
  let said = '';
  for (const stream of [daemon.stdout!, daemon.stderr!]) stream.on('data', (text) => (said += text));
  const deadline = performance.now() + START_MS_MAX;
  const isUp = () =>
    clamdAt(address, { patienceMs: 30_000 })
      .ping()
      .then(
        () => true,
        () => false,
      );
  while (!(await isUp())) {
    if (daemon.exitCode !== null || performance.now() > deadline) throw new Error(`clamd did not start: ${said}`);
    await delay(50);
  }
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGKILL');
  await ended;
}
