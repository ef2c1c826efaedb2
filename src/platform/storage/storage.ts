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

/** A file that is put together from parts. Whoever began it remembers the storage's own handle with the key. */
export interface Assembly {
  /** Where the whole will be. */
  readonly key: string;
  readonly handle: string;
}

/** Parts are numbered from 1. All have the same length, but for the last. */
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

/** Puts large files together in place, so that the whole is never copied. Nothing of it is an object before `finish`. */
export interface Assemblies {
  /** To begin what was begun is no error. */
  begin(key: string): Promise<string>;
  /** Writes a part of exactly its length; once this returns, the part survives a crash. A body that throws is no part. */
  putPart(assembly: Assembly, part: Part, body: AsyncIterable<Uint8Array>): Promise<string>;
  /**
   * Reads the parts back, in the order of their numbers and without gaps, and makes them the object at the key.
   * To finish again what was finished is no error. Parts that are not what they were are `PartsDamaged`. Only few are
   * worked on at once; `begun` is called when it is the turn of this one.
   */
  finish(assembly: Assembly, parts: readonly StoredPart[], begun?: () => Promise<void>): Promise<StoredObject>;
  /** Forgets the parts, and the whole where there is one. */
  discard(assembly: Assembly): Promise<void>;
  /** Gives up a beginning that nobody goes on with, because another was made under the same key: that one stays. */
  forsake(assembly: Assembly): Promise<void>;
}

/** An object that is held open, to be read at any position until it is closed. */
export interface OpenObject {
  readonly bytes: number;
  /** Unix seconds. */
  readonly dateModified: number;
  /** Another one whenever the bytes may have changed. */
  readonly version: string;
  /** How many bytes are best read at once by someone who wants them all. */
  readonly readBytes: number;
  /** Fills the buffer from this position on, and tells with how many bytes: fewer than it holds only at the end. */
  readInto(buffer: Uint8Array, position: number): Promise<number>;
  /** The same at once. Whoever asks knows that the bytes are in memory: all else waits meanwhile. Absent where none are. */
  readNow?(buffer: Uint8Array, position: number): number;
  /** The SHA-256 of the bytes that are there now, in hexadecimal. It reads them all, away from the event loop. */
  digest(): Promise<string>;
  close(): Promise<void>;
}

/** How whoever fetches an object by its link shall see it. */
export interface LinkOptions {
  readonly seconds: number;
  readonly type: string;
  /** The header Content-Disposition. */
  readonly disposition: string;
}

/** Where files live. An object is there as a whole or not at all, and once `put` returns it survives a crash. */
export interface Storage {
  put(
    key: string,
    body: AsyncIterable<Uint8Array> | Uint8Array,
    options?: { bytesMax?: number },
  ): Promise<StoredObject>;
  /**
   * `bytes` is the length of the stream, which is that of the range when one is given.
   * An end past the object's is cut; a start past it is a RangeError. The stream is to be read or destroyed.
   */
  open(key: string, range?: ByteRange): Promise<{ stream: Readable; bytes: number } | undefined>;
  /** Holds an object open; whoever does closes it. */
  read(key: string): Promise<OpenObject | undefined>;
  /** The object as a file, for a server in front that can send files; absent where objects are none. */
  path?(key: string): string;
  /** An address elsewhere that gives the object to anyone for some time; absent where there is none. */
  link?(key: string, options: LinkOptions): Promise<string>;
  stat(key: string): Promise<{ bytes: number } | undefined>;
  /** Gives an object another key, replacing what was there. What is not there cannot be moved. */
  move(from: string, to: string): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** The keys that begin with this text, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
  /** Throws when nothing can be written. */
  check(): Promise<void>;
  /** How many bytes may still come, less those that are kept free; undefined where there is no end to it. */
  room(): Promise<number | undefined>;
  /** Lets go of connections; absent where there are none. */
  close?(): Promise<void>;
  readonly assemblies: Assemblies;
}

/** There is no room left; the same may succeed later. */
export class StorageFull extends Error {
  override readonly name = 'StorageFull';
}

/** The storage does not answer, or not as it should; the same may succeed later. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** The body is longer than the caller allowed. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** What was stored of these parts is gone or no longer the same. */
export class PartsDamaged extends Error {
  override readonly name = 'PartsDamaged';
  readonly parts: readonly number[];
  constructor(parts: readonly number[]) {
    super(`parts ${parts.join(', ')} are damaged`);
    this.parts = parts;
  }
}

const keyPattern = /^[a-z0-9]+(?:\/[a-zA-Z0-9._-]+)*$/;
const keyCharactersMax = 1024;
const segmentCharactersMax = 255;

export function isKey(key: string): boolean {
  if (key.length > keyCharactersMax || !keyPattern.test(key)) return false;
  return key.split('/').every((segment) => segment.length <= segmentCharactersMax && !/^\.\.?$/.test(segment));
}

/** Keys become paths, so whatever could name a place outside the folder is refused before it is one. */
export function requireKey(key: string): string {
  if (!isKey(key)) throw new Error(`not a storage key: ${JSON.stringify(key.slice(0, 100))}`);
  return key;
}

/** A prefix is the beginning of some key: empty, a key, or a key and the slash after it. */
export function requirePrefix(prefix: string): string {
  if (prefix !== '') requireKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
  return prefix;
}
