import { ArchiveProblem } from '../moving/archive/lines.ts';
import { openSource, type Source } from '../moving/archive/source.ts';
import { BrokenArchive } from '../platform/archives/tar.ts';
import { Refusal } from './invocation/command.ts';

/** Opens an archive for a command; what is wrong with it becomes the sentence that the operator reads. */
export async function openArchive<T>(path: string, work: (source: Source) => Promise<T>): Promise<T> {
  try {
    const source = await openSource(path);
    try {
      return await work(source);
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof ArchiveProblem || error instanceof BrokenArchive)
      throw new Refusal(`${path} cannot be used: ${error.message}.`);
    throw error;
  }
}
