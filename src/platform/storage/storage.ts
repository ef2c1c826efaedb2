import type { Readable } from 'node:stream';

export interface StoredObject {
  bytes: number;
  md5: string;
  sha256: string;
}

/** Both ends are included, as in the Range header of HTTP. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A file assembled from parts. The caller stores the storage's handle with the key. */
export interface Assembly {
  /** The key of the finished object. */
  readonly key: string;
  readonly handle: string;
}

/** Parts are numbered from 1. All except the last have the same length. */
export interface Part {
  readonly number: number;
  readonly start: number;
  readonly bytes: number;
}

export interface StoredPart extends Part {
  readonly sha256: string;
  /** What `putPart` returned. */
  readonly tag: string;
}

/** The specification fixes this length. */
export const PART_BYTES = 52_428_800;

/** Assembles large files in place, without copying. Nothing is an object before `finish`. */
export interface Assemblies {
  /** The length of every part except the last. */
  readonly partBytes: number;
  /** Each call begins an assembly of its own, with a handle of its own. */
  begin(key: string): Promise<string>;
  /**
   * Writes a part of exactly its length and resolves when it is durable. A body that throws stores no part, and neither
   * does a part that arrives after `finish`.
   */
  putPart(assembly: Assembly, part: Part, body: AsyncIterable<Uint8Array>): Promise<string>;
  /**
   * Verifies the parts, in the order of their numbers and without gaps, and makes them the object; idempotent. Throws
   * `PartsDamaged` for changed parts; `begun` is called when this assembly's turn comes, because only a few run at
   * once.
   */
  finish(assembly: Assembly, parts: readonly StoredPart[], begun?: () => Promise<void>): Promise<StoredObject>;
  /** Deletes the parts, and the object if it exists; the handle may be empty if it is not known. */
  discard(assembly: Assembly): Promise<void>;
  /** A temporary address to which a client sends a part itself; missing if clients cannot reach the storage. */
  partLink?(assembly: Assembly, part: Part, seconds: number): Promise<string>;
  /** The tag of a part that a client has sent by its link; undefined if it is missing or has another length. */
  linkedPart?(assembly: Assembly, part: Part): Promise<string | undefined>;
  /** Abandons a handle after another was created for the same key; the other one stays. */
  abandon(assembly: Assembly): Promise<void>;
}

/** An open object, readable at any position until it is closed. */
export interface OpenObject {
  readonly bytes: number;
  /** Unix seconds. */
  readonly dateModified: number;
  /** Changes whenever the bytes may have changed. */
  readonly version: string;
  /** The most efficient read size for sequential readers. */
  readonly readBytes: number;
  /** Fills the buffer from this position and returns the number of bytes, which is smaller only at the end. */
  readInto(buffer: Uint8Array, position: number): Promise<number>;
  /** Synchronous read, for bytes that are in the page cache; missing on remote storage. */
  readNow?(buffer: Uint8Array, position: number): number;
  /** The SHA-256 of the current bytes in hexadecimal, computed off the event loop. */
  digest(): Promise<string>;
  close(): Promise<void>;
}

/** Response headers of an object fetched by its link. */
export interface LinkOptions {
  readonly seconds: number;
  readonly type: string;
  /** The header Content-Disposition. */
  readonly disposition: string;
}

/** File storage. An object exists completely or not at all, and is durable once `put` returns. */
export interface Storage {
  put(
    key: string,
    body: AsyncIterable<Uint8Array> | Uint8Array,
    options?: { bytesMax?: number },
  ): Promise<StoredObject>;
  /**
   * `bytes` is the length of the stream: of the range, if there is one. An end past the object's end is cut, a start
   * past it is a RangeError; the caller must read or destroy the stream.
   */
  open(key: string, range?: ByteRange): Promise<{ stream: Readable; bytes: number } | undefined>;
  /** Opens an object; the caller must close it. */
  read(key: string): Promise<OpenObject | undefined>;
  /** The object's path, for a server in front that sends files; missing on remote storage. */
  path?(key: string): string;
  /** A temporary public address of the object for GET; missing if clients cannot reach the storage. */
  link?(key: string, options: LinkOptions): Promise<string>;
  /** True if the server behind the links refuses requests with the header Authorization. */
  readonly linksRefuseCredentials?: boolean;
  stat(key: string): Promise<{ bytes: number } | undefined>;
  /** Renames an object and replaces the target. Throws when the source is missing. */
  move(from: string, to: string): Promise<void>;
  /** Removing a missing object is no error. */
  remove(key: string): Promise<void>;
  /** The keys with this prefix, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
  /** Throws when nothing can be written. */
  check(): Promise<void>;
  /** Free bytes minus the reserve; undefined when unlimited. */
  room(): Promise<number | undefined>;
  /** Closes connections; missing when there are none. */
  close?(): Promise<void>;
  readonly assemblies: Assemblies;
}

/** The storage is full; a retry may succeed later. */
export class StorageFull extends Error {
  override readonly name = 'StorageFull';
}

/** The storage is unavailable or misbehaves; a retry may succeed later. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** The body is longer than the caller allowed. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** Stored parts are missing or damaged. */
export class PartsDamaged extends Error {
  override readonly name = 'PartsDamaged';
  readonly parts: readonly number[];
  /** The assembly no longer exists, and the parts belong into a new one. */
  readonly isAborted: boolean;
  constructor(parts: readonly number[], { isAborted = false } = {}) {
    super(`parts ${parts.join(', ')} are damaged`);
    this.parts = parts;
    this.isAborted = isAborted;
  }
}

const keyPattern = /^[a-z0-9]+(?:\/[a-zA-Z0-9._-]+)*$/;
const keyCharactersMax = 1024;
const segmentCharactersMax = 255;

export function isKey(key: string): boolean {
  if (key.length > keyCharactersMax || !keyPattern.test(key)) return false;
  return key.split('/').every((segment) => segment.length <= segmentCharactersMax && !/^\.\.?$/.test(segment));
}

/** Keys become paths, so a key that could leave the folder is rejected. */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new Error(`not a storage key: ${JSON.stringify(key.slice(0, 100))}`);
  return key;
}

/** A prefix is the beginning of some key: empty, a key, or a key and the slash after it. */
export function requirePrefix(prefix: string): string {
  if (prefix !== '') requireKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
  return prefix;
}
