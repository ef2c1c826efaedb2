import { crc32 } from 'node:zlib';

/**
 * The validator of a JSON response (RFC 9110, section 8.8.3), from its bytes, so that all processes agree on it. Weak,
 * because the compressed response has the same one.
 */
export function entityTagOf(
  text: string | Buffer,
  bytes = Buffer.byteLength(text),
  checksum: number = crc32(text),
): string {
  return `W/"${bytes}-${checksum}"`;
}

const OPAQUE = /"[^"]*"/g;

/** Whether the header If-None-Match names the response that would be sent, by the weak comparison. */
export function isNotModified(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = entityTag.slice(entityTag.indexOf('"'));
  return ifNoneMatch.match(OPAQUE)?.includes(opaque) ?? false;
}
