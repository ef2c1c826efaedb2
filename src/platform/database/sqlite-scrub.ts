import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childEnvironment } from '../runtime/child-environment.ts';

const PROGRAM = fileURLToPath(new URL('./sqlite-scrub-program.ts', import.meta.url));

/**
 * The problems of a database file. A process of its own returns all its memory; what a thread has used stays with the
 * service for as long as it runs.
 */
export async function scrubSqlite(location: string, signal: AbortSignal): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, location], {
    env: childEnvironment(),
    signal,
    killSignal: 'SIGKILL',
  });
  return JSON.parse(stdout);
}
