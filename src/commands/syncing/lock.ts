import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../invocation/command.ts';
import { EXIT } from './exit-codes.ts';

/**
 * Locks a folder against other runs on this machine. The lock is a listening socket without a file where the system has
 * those, so it ends with the process, however that ends.
 */
export async function lockFolder(state: string): Promise<AsyncDisposable> {
  const name = `modstead-sync-${createHash('sha256').update(state).digest('hex').slice(0, 32)}`;
  const path =
    process.platform === 'linux'
      ? `\0${name}`
      : process.platform === 'win32'
        ? `\\\\.\\pipe\\${name}`
        : join(tmpdir(), `${name}.sock`);
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    server.listen({ path, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Refusal([{ name: 'folder_locked' }], EXIT.LOCKED);
  }
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) };
}
