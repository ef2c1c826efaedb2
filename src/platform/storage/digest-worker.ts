import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { handleRequests } from '../runtime/thread.ts';
import { lowerThreadPriority, updateInPieces } from './background.ts';
import type { DigestRequest, Hashes } from './digests.ts';

const CHUNK_BYTES = 1024 * 1024;

lowerThreadPriority();
const running = new Map<number, { readonly md5: Hash; readonly sha256: Hash }>();

handleRequests(async (request: DigestRequest) => ({
  found: 'path' in request ? await digest(request.path) : goOn(request),
}));

function goOn(request: Extract<DigestRequest, { hash: number }>): Hashes | undefined {
  const { md5, sha256 } = running.get(request.hash) ?? { md5: createHash('md5'), sha256: createHash('sha256') };
  if ('end' in request) {
    running.delete(request.hash);
    return { md5: md5.digest('hex'), sha256: sha256.digest('hex') };
  }
  running.set(request.hash, { md5, sha256 });
  updateInPieces([md5, sha256], request.bytes);
  return undefined;
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const handle = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return hash.digest('hex');
      updateInPieces([hash], buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
