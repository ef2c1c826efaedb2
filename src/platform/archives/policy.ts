/** How much an archive may ask of whoever unpacks it, and what it may hold. */
export interface ArchivePolicy {
  /** Files and folders, named or implied, of the archive and of all archives within it. */
  readonly entriesMax: number;
  /** What everything unpacks to, archives within archives included. */
  readonly bytesUncompressedMax: number;
  /** How many times its own size an archive may unpack to. */
  readonly ratioMax: number;
  /** Up to this size the ratio does not matter. */
  readonly ratioFreeBytes: number;
  /** How many archives may lie within each other below the first. */
  readonly nestingMax: number;
  readonly nameBytesMax: number;
  readonly commentBytesMax: number;
  readonly directoryBytesMax: number;
  /** In small letters and without the dot. */
  readonly extensionsRefused: ReadonlySet<string>;
  readonly extensionsReported: ReadonlySet<string>;
}

const MEGABYTE = 1024 ** 2;
const GIGABYTE = 1024 ** 3;

export const ARCHIVE_POLICY: ArchivePolicy = {
  entriesMax: 65_536,
  bytesUncompressedMax: 100 * GIGABYTE,
  ratioMax: 100,
  ratioFreeBytes: 64 * MEGABYTE,
  nestingMax: 3,
  nameBytesMax: 1_024,
  commentBytesMax: 4_096,
  directoryBytesMax: 32 * MEGABYTE,
  extensionsRefused: new Set(),
  extensionsReported: new Set(),
};
