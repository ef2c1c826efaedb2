const SPACE = 0x20;
const LINE_BYTES_MAX = 8 * 1024;
const SPACED_LINE = /^([A-Z]{3,7} \/[!->@-~\x80-\xff]*\?)([ -~\x80-\xff]*)( HTTP\/1\.[01])$/;

/**
 * Encodes raw spaces in the query of a request line, which the C++ SDK sends (docs/API-QUIRKS.md, 35) and Node's parser
 * rejects. Anything ambiguous stays unchanged: an incomplete line, spaces in the path, control characters or a second
 * HTTP version.
 */
export function withEncodedSpaces(bytes: Buffer): Buffer {
  const end = bytes.subarray(0, LINE_BYTES_MAX).indexOf('\r\n');
  if (end === -1 || !hasThreeSpaces(bytes.subarray(0, end))) return bytes;
  const [, start = '', query = '', version = ''] = SPACED_LINE.exec(bytes.toString('latin1', 0, end)) ?? [];
  if (!query.includes(' ') || / HTTP\//i.test(query)) return bytes;
  const line = Buffer.from(`${start}${query.replaceAll(' ', '%20')}${version}`, 'latin1');
  return Buffer.concat([line, bytes.subarray(end)]);
}

/** A usual line has two, and needs no pattern. */
function hasThreeSpaces(line: Buffer): boolean {
  const second = line.indexOf(SPACE, line.indexOf(SPACE) + 1);
  return second !== -1 && line.includes(SPACE, second + 1);
}
