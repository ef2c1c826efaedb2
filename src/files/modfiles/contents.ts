import { fileTypesOf } from '../../catalogue/findings/file-types.ts';
import type { App } from '../../platform/app.ts';
import {
  type ArchiveEntry,
  ArchiveProblem,
  type Inspection,
  inspectArchive,
  readContents,
  storedSource,
  toFieldProblem,
} from '../../platform/archives/archives.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';

/** Reads a new archive to its last byte; one that is not sound, or holds what the game refuses, is not taken. */
export async function inspectFile(
  app: App,
  { gameId, field, key }: { readonly gameId: number; readonly field: string; readonly key: string },
): Promise<Inspection> {
  const { refused, reported } = await fileTypesOf(app.db, gameId);
  const source = await storedSource(app.storage, key);
  if (!source) throw new Error(`${key} is not in storage`);
  try {
    const policy = { extensionsRefused: new Set(refused), extensionsReported: new Set(reported) };
    return await inspectArchive(source, policy);
  } catch (cause) {
    if (!(cause instanceof ArchiveProblem)) throw cause;
    // An archive with what the game refuses is a sound one.
    const refusal = cause.reason === 'extension' ? 'VALIDATION_GENERIC' : 'FILE_CORRUPTED';
    throw new ApiError(refusal, { status: 422, fields: [toFieldProblem(field, cause)], cause });
  }
}

/** Read from the archive whenever someone asks, which is seldom: its directory is the list. */
export async function contentsOf(app: App, key: string): Promise<readonly ArchiveEntry[]> {
  const source = await storedSource(app.storage, key);
  if (!source) throw new ApiError('MODFILE_CANNOT_INSPECT_FILES');
  try {
    return await readContents(source);
  } catch (cause) {
    throw cause instanceof ArchiveProblem ? new ApiError('MODFILE_CANNOT_INSPECT_FILES', { cause }) : cause;
  }
}
