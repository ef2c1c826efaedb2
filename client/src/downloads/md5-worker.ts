// The script of a worker, in a browser or in Node.js, that computes MD5s for `md5InWorker`.
import { createMd5 } from './md5.ts';

/** Every download brings a port of its own. */
function serve(port: MessagePort): void {
  const md5 = createMd5();
  port.onmessage = ({ data }: MessageEvent<Uint8Array | 'digest'>) => {
    if (data !== 'digest') md5.update(data);
    port.postMessage(data === 'digest' ? md5.digest() : null);
    if (data === 'digest') port.close();
  };
}

interface NodeProcess {
  getBuiltinModule(name: string): { parentPort: { on(event: 'message', listen: (port: MessagePort) => void): void } };
}

const { process } = globalThis as { process?: NodeProcess };
if (process?.getBuiltinModule) process.getBuiltinModule('node:worker_threads').parentPort.on('message', serve);
else addEventListener('message', ({ data }: MessageEvent<MessagePort>) => serve(data));
