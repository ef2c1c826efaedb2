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
  stat(key: string): Promise<{ bytes: number } | undefined>;
  /** Gives an object another key, replacing what was there. What is not there cannot be moved. */
  move(from: string, to: string): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** The keys that begin with this text, in no particular order. */
  list(prefix: string): AsyncIterable<string>;
  /** Throws when nothing can be written. */
  check(): Promise<void>;
}

/** There is no room left; the same may succeed later. */
export class StorageFull extends Error {
  override readonly name = 'StorageFull';
}

/** The body is longer than the caller allowed. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
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
