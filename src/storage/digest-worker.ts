import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import type { DigestAnswer, DigestRequest } from './digests.ts';

const CHUNK_BYTES = 1024 * 1024;

parentPort!.on('message', ({ id, path }: DigestRequest) => {
  const answer = (message: DigestAnswer) => parentPort!.postMessage(message);
  digest(path).then(
    (sha256) => answer({ id, sha256 }),
    (error) => answer({ id, error }),
  );
});

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const handle = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
