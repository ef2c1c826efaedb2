import { contentOf, isSmall, requireDescriptor, requireLocalHeader, requireRoom, smallContentOf } from './contents.ts';
import { type Entry, findEnd, inOrder, readDirectory, type Tally } from './directory.ts';
import { isExecutable } from './executables.ts';
import { extensionOf } from './names.ts';
import { ARCHIVE_POLICY, type ArchivePolicy } from './policy.ts';
import { ArchiveProblem } from './problem.ts';
import { METHOD } from './records.ts';
import { type ArchiveSource, bufferSource, sliceOf, WINDOW_BYTES, Window } from './source.ts';
import { HEAD_BYTES, Spool, startsAsArchive } from './spool.ts';
import { TimeSlice } from './time-slice.ts';

export type { ArchivePolicy } from './policy.ts';
export { ArchiveProblem, type ArchiveReason, toFieldProblem } from './problem.ts';
export { type ArchiveSource, fileSource, storedSource } from './source.ts';

export interface ArchiveEntry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly crc32: number;
}

export interface Inspection {
  /** The entries of the archive itself, in the order of its directory. */
  readonly entries: readonly ArchiveEntry[];
  readonly bytesUncompressed: number;
  /** Paths whose extension must be reported, including those in nested archives. */
  readonly reported: readonly string[];
  /** Paths of files that look like programs. */
  readonly executables: readonly string[];
}

/** A file during the inspection. `path` continues through nested archives as if they were folders. */
interface ArchivedFile {
  readonly path: string;
  readonly bytes: number;
  /** 0 for a file of the archive itself, 1 for a file of an archive in it. */
  readonly depth: number;
}

/** Receives every file at every depth. The inspection reads and checks whatever the visitor leaves unread. */
export type Visit = (file: ArchivedFile, content: AsyncIterable<Buffer>) => Promise<void>;

/** The maximum number of reported paths, because people read the list. */
const PATHS_MAX = 1_000;

/**
 * Reads an archive completely and throws `ArchiveProblem` unless all readers unpack the same files, no file lands
 * outside of its folder, and everything stays within the policy.
 */
export async function inspectArchive(
  source: ArchiveSource,
  given: Partial<ArchivePolicy> = {},
  visit?: Visit,
): Promise<Inspection> {
  const policy = { ...ARCHIVE_POLICY, ...given };
  const walk: Walk = {
    policy,
    visit,
    tally: tallyOf(policy, source.bytes),
    slice: new TimeSlice(),
    reported: [],
    executables: [],
  };
  const entries = await walkArchive(walk, source, { folder: '', depth: 0 });
  if (!entries) throw new ArchiveProblem(await reasonOfNoEnd(source));
  if (!entries.some((entry) => !entry.isFolder)) throw new ArchiveProblem('empty');
  return {
    entries: entries.map(toArchiveEntry),
    bytesUncompressed: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    reported: walk.reported,
    executables: walk.executables,
  };
}

const toArchiveEntry = ({ name, isFolder, bytes, compressedBytes, crc32 }: Entry): ArchiveEntry => ({
  name,
  isFolder,
  bytes,
  compressedBytes,
  crc32,
});

/** The entries of the directory, for an archive that was inspected before. */
export async function readContents(source: ArchiveSource): Promise<readonly ArchiveEntry[]> {
  const end = await findEnd(source, ARCHIVE_POLICY);
  if (!end) throw new ArchiveProblem(await reasonOfNoEnd(source));
  const [tally, slice] = [tallyOf(ARCHIVE_POLICY, source.bytes), new TimeSlice()];
  const entries = await readDirectory(source, end, ARCHIVE_POLICY, { tally, slice, isOutermost: true });
  return entries.map(toArchiveEntry);
}

interface Walk {
  readonly policy: ArchivePolicy;
  readonly visit: Visit | undefined;
  readonly tally: Tally;
  readonly slice: TimeSlice;
  readonly reported: string[];
  readonly executables: string[];
}

/** A file that begins like an archive but has no end record was truncated. */
async function reasonOfNoEnd(source: ArchiveSource): Promise<'damaged' | 'type'> {
  if (source.bytes < HEAD_BYTES) return 'type';
  const head = await source.read(0, HEAD_BYTES);
  return startsAsArchive(head) ? 'damaged' : 'type';
}

/** One count for all depths, relative to the number of uploaded bytes. */
function tallyOf(policy: ArchivePolicy, uploadedBytes: number): Tally {
  const { entriesMax, bytesUncompressedMax, ratioMax, ratioFreeBytes } = policy;
  let [places, total] = [0, 0];
  return {
    addPlace() {
      places += 1;
      if (places > entriesMax) throw new ArchiveProblem('entries', { max: entriesMax });
    },
    addBytes(bytes) {
      total += bytes;
      if (total > bytesUncompressedMax) throw new ArchiveProblem('bytes', { max: toMegabytes(bytesUncompressedMax) });
      if (total > ratioFreeBytes && total > ratioMax * uploadedBytes)
        throw new ArchiveProblem('ratio', { max: ratioMax });
    },
  };
}

const toMegabytes = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2)} MB`;

interface Place {
  /** The path prefix of its entries. */
  readonly folder: string;
  readonly depth: number;
}

/** Unpacks nothing before the whole directory has been checked. */
async function walkArchive(walk: Walk, source: ArchiveSource, place: Place): Promise<Entry[] | undefined> {
  const { policy } = walk;
  const end = await findEnd(source, policy);
  if (!end) return undefined;
  if (place.depth > policy.nestingMax) throw new ArchiveProblem('nesting', { max: policy.nestingMax });
  const entries = await readDirectory(source, end, policy, { ...walk, isOutermost: place.depth === 0 });
  const window = new Window(source);
  const ordered = inOrder(entries);
  for (const [index, entry] of ordered.entries()) {
    if (walk.slice.isUsedUp) await walk.slice.yieldToEventLoop();
    const span = (ordered[index + 1]?.offset ?? end.offset) - entry.offset;
    // The whole of a small entry, and more than the header of a large one.
    const ahead = Math.min(span, WINDOW_BYTES);
    const held = window.held(entry.offset, ahead) ?? (await window.read(entry.offset, ahead));
    const head = requireLocalHeader(held, entry);
    requireRoom(entry, span - head - entry.compressedBytes);
    if (isSmall(entry) && span <= ahead) await walkSmall(walk, held.subarray(head), entry, place);
    else
      await walkLarge(walk, source, window, entry, { ...place, start: entry.offset + head, end: entry.offset + span });
  }
  return entries;
}

async function walkSmall(walk: Walk, rest: Buffer, entry: Entry, { folder, depth }: Place): Promise<void> {
  const { name, isFolder, bytes, compressedBytes } = entry;
  requireDescriptor(rest.subarray(compressedBytes), entry);
  const content = smallContentOf(rest.subarray(0, compressedBytes), entry);
  const path = folder + name;
  if (walk.visit && !isFolder) await walk.visit({ path, bytes, depth }, once(content));
  note(walk, path, content.subarray(0, HEAD_BYTES));
  if (startsAsArchive(content)) await walkInner(walk, bufferSource(content), path, depth);
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  if (content.length > 0) yield content;
}

/** Reads a large entry in chunks, and spools it to disk if it is itself an archive. */
async function walkLarge(
  walk: Walk,
  source: ArchiveSource,
  window: Window,
  entry: Entry,
  { folder, depth, start, end }: Place & { start: number; end: number },
): Promise<void> {
  const { name, method, bytes, compressedBytes } = entry;
  const path = folder + name;
  const isStored = method === METHOD.stored;
  await using spool = new Spool(!isStored);
  const content = spool.through(contentOf(window, entry, start));
  await walk.visit?.({ path, bytes, depth }, unended(content));
  for await (const _ of content);
  const dataEnd = start + compressedBytes;
  requireDescriptor(await window.read(dataEnd, end - dataEnd), entry);
  note(walk, path, spool.head);
  const inner = startsAsArchive(spool.head) && (isStored ? sliceOf(source, start, bytes) : await spool.source());
  if (inner) await walkInner(walk, inner, path, depth);
}

const walkInner = (walk: Walk, source: ArchiveSource, path: string, depth: number): Promise<void> =>
  naming(path, () => walkArchive(walk, source, { folder: `${path}/`, depth: depth + 1 }));

/** A reader that stops early does not end the content, because the inspection reads the rest. */
function unended(content: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => ({ next: () => content.next() }) };
}

function note({ policy, reported, executables }: Walk, path: string, head: Buffer): void {
  if (policy.extensionsReported.has(extensionOf(path)) && reported.length < PATHS_MAX) reported.push(path);
  if (isExecutable(path, head) && executables.length < PATHS_MAX) executables.push(path);
}

/** Adds the full path to the problem of a nested archive. */
async function naming(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ArchiveProblem) || error.entry?.startsWith(path)) throw error;
    const entry = error.entry === undefined ? path : `${path}/${error.entry}`;
    throw new ArchiveProblem(error.reason, { entry, ...(error.max !== undefined && { max: error.max }), cause: error });
  }
}
