import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const PROGRAM = new URL('../bin/modstead.mjs', import.meta.url).pathname;

/** The program with sample content, as operators start it, behind a proxy and without rate limits. */
export interface SampleService {
  readonly process: ChildProcess;
  readonly port: number;
  /** The API key of its first game. */
  readonly key: string;
  /** Runs another command of the program on its data, and returns what that prints. */
  run(...args: readonly string[]): string;
}

export async function startSampleService(
  data: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<SampleService> {
  const env = {
    ...process.env,
    MODSTEAD_DATA: data,
    MODSTEAD_PORT: '0',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
    MODSTEAD_PROCESSES: '1',
    MODSTEAD_RATE_LIMITS: 'off',
    MODSTEAD_LOG: 'error',
    ...settings,
  };
  const run = (...args: readonly string[]) =>
    execFileSync(process.execPath, [PROGRAM, ...args], { env, encoding: 'utf8' });
  if (settings['MODSTEAD_DATABASE_URL']) run('migrate');
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--demo', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`serve ended with ${code}`)));
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])) as [string];
  const { port, demo } = JSON.parse(line) as { port: number; demo: { games: { api_key: string }[] } };
  ended.catch(() => {});
  return { process: child, port, key: demo.games[0]!.api_key, run };
}
