import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { answerEach } from '../runtime/thread.ts';
import { lowerThreadPriority } from './background.ts';
import type { DigestQuestion, Hashes } from './digests.ts';

const CHUNK_BYTES = 1024 * 1024;

lowerThreadPriority();
const running = new Map<number, { readonly md5: Hash; readonly sha256: Hash }>();

answerEach(async (question: DigestQuestion) => ({
  found: 'path' in question ? await digest(question.path) : goOn(question),
}));

function goOn(question: Extract<DigestQuestion, { hash: number }>): Hashes | undefined {
  const { md5, sha256 } = running.get(question.hash) ?? { md5: createHash('md5'), sha256: createHash('sha256') };
  if ('end' in question) {
    running.delete(question.hash);
    return { md5: md5.digest('hex'), sha256: sha256.digest('hex') };
  }
  running.set(question.hash, { md5, sha256 });
  md5.update(question.bytes);
  sha256.update(question.bytes);
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
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
