import { crc32 } from 'node:zlib';

/**
 * The validator of a JSON response (RFC 9110, section 8.8.3), from its bytes, so that all processes agree on it. Weak,
 * because the compressed response has the same one.
 */
export function entityTagOf(text: string | Buffer, bytes = Buffer.byteLength(text), checksum?: number): string {
  return `W/"${bytes}-${checksum ?? checksumOf(text)}"`;
}

/** Computing the checksum of a shorter text costs less than calling the platform's. */
const SHORT_LENGTH = 256;

const checksumOf = (text: string | Buffer): number =>
  typeof text === 'string' && text.length < SHORT_LENGTH ? fnv1a(text) : crc32(text);

/** RFC 9923, with UTF-16 units in place of bytes. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

const OPAQUE = /"[^"]*"/g;

/** Whether the header If-None-Match names the response that would be sent, by the weak comparison. */
export function isNotModified(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = entityTag.slice(entityTag.indexOf('"'));
  return ifNoneMatch.match(OPAQUE)?.includes(opaque) ?? false;
}
