/// <reference types="node" />
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import type { Client } from '../calls/client.ts';
import { DamagedDownload, type DownloadedFile, type DownloadOptions, download } from '../downloads/downloads.ts';
import type { Md5 } from '../downloads/md5.ts';

/**
 * Downloads to a file, which exists only once it is complete and verified. Until then its bytes are beside it, under the
 * name with `.part`, and the next call continues with them, also after a restart.
 */
export async function downloadToFile(
  client: Client,
  file: DownloadedFile,
  path: string,
  options: Omit<DownloadOptions, 'received' | 'md5'> = {},
): Promise<void> {
  const part = `${path}.part`;
  try {
    await continuePart(client, file, part, options);
  } catch (error) {
    // The bytes may be of another file, so the next attempt begins anew.
    if (error instanceof DamagedDownload) await rm(part, { force: true });
    throw error;
  }
  await rename(part, path);
}

async function continuePart(client: Client, file: DownloadedFile, part: string, options: DownloadOptions) {
  const stored = await stat(part).then(
    ({ size }) => size,
    () => 0,
  );
  const received = stored > 0 ? createReadStream(part) : undefined;
  const handle = await open(part, 'a');
  try {
    for await (const chunk of download(client, file, { ...options, received, md5: nodeMd5() }))
      await handle.appendFile(chunk);
    await handle.sync();
  } finally {
    received?.destroy();
    await handle.close();
  }
}

function nodeMd5(): Md5 {
  const hash = createHash('md5');
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
}
