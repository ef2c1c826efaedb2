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

/** Reads a new archive completely. Rejects it if it is damaged or contains file types that the game refuses. */
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
    // An archive with a refused file type is not corrupted.
    const refusal = cause.reason === 'extension' ? 'VALIDATION_GENERIC' : 'FILE_CORRUPTED';
    throw new ApiError(refusal, { status: 422, fields: [toFieldProblem(field, cause)], cause });
  }
}

/** Lists the entries from the archive’s own directory. The list is not stored, because it is seldom requested. */
export async function contentsOf(app: App, key: string): Promise<readonly ArchiveEntry[]> {
  const source = await storedSource(app.storage, key);
  if (!source) throw new ApiError('MODFILE_CANNOT_INSPECT_FILES');
  try {
    return await readContents(source);
  } catch (cause) {
    throw cause instanceof ArchiveProblem ? new ApiError('MODFILE_CANNOT_INSPECT_FILES', { cause }) : cause;
  }
}
