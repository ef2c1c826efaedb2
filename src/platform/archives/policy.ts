/** The limits for the content of an archive. */
export interface ArchivePolicy {
  /** Files and folders, listed or implied, of the archive and all nested archives. */
  readonly entriesMax: number;
  /** The total unpacked size, including nested archives. */
  readonly bytesUncompressedMax: number;
  /** The maximum ratio of the unpacked size to the archive's own size. */
  readonly ratioMax: number;
  /** The ratio is not checked up to this size. */
  readonly ratioFreeBytes: number;
  /** The maximum depth of nested archives below the first. */
  readonly nestingMax: number;
  readonly nameBytesMax: number;
  readonly commentBytesMax: number;
  readonly directoryBytesMax: number;
  /** In lower case and without the dot. */
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
