import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArchiveProblem, fileSource, inspectArchive } from '../../platform/archives/archives.ts';
import { syncFolder } from './durable.ts';
import { Unusable } from './exit-codes.ts';

/**
 * Unpacks an archive into a folder that exists only once it is complete. The reader refuses names outside of the folder,
 * links, and archives that unpack to far more than their size.
 */
export async function unpack(archive: string, target: string, temporary: string): Promise<void> {
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  const handle = await open(archive, 'r');
  try {
    const { entries } = await inspectArchive(await fileSource(handle), {}, async (file, content) => {
      // Archives inside the archive are inspected too, but stay packed.
      if (file.depth === 0) await write(join(temporary, file.path), content);
    });
    for (const { name, isFolder } of entries) if (isFolder) await mkdir(join(temporary, name), { recursive: true });
  } catch (error) {
    if (error instanceof ArchiveProblem)
      throw new Unusable({ name: 'archive_unsafe', values: { path: archive, detail: error.message } }, error);
    throw error;
  } finally {
    await handle.close();
  }
  await syncFolder(temporary);
  await rename(temporary, target);
  await syncFolder(dirname(target));
}

async function write(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // A path that exists already is an error, not a file to replace.
  const handle = await open(path, 'wx');
  try {
    for await (const chunk of content) await handle.appendFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
