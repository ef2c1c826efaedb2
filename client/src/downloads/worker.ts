import type { Md5 } from './md5.ts';

/** A `Worker` of a browser, or of `node:worker_threads`. */
export interface Md5Worker {
  // biome-ignore lint/suspicious/noExplicitAny: the two kinds of workers name the type of this list differently.
  postMessage(message: unknown, transfer: any[]): void;
}

/** Computes an MD5 in a worker that runs `@modstead/client/md5-worker`. A worker serves any number of downloads. */
export function md5InWorker(worker: Md5Worker): Md5 {
  const { port1: port, port2 } = new MessageChannel();
  const answers: ((answer: string) => void)[] = [];
  port.onmessage = ({ data }: { data: string }) => answers.shift()!(data);
  worker.postMessage(port2, [port2]);
  const ask = (message: unknown, transfer: ArrayBuffer[]) =>
    new Promise<string>((resolve) => {
      answers.push(resolve);
      port.postMessage(message, transfer);
    });
  return {
    update: async (bytes) => {
      // A copy, because the caller still uses the bytes.
      const copy = bytes.slice();
      await ask(copy, [copy.buffer]);
    },
    digest: async () => {
      const digest = await ask('digest', []);
      port.close();
      return digest;
    },
  };
}
