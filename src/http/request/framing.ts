import { ApiError } from '../../errors/catalogue.ts';
import { contentTypeOf } from './body.ts';

/** RFC 2046 allows 70 characters; the parser searches for up to 252. */
const boundaryShape = /^[\x20-\x7e]{1,200}$/;

/** The boundary of a multipart/form-data body, without which nothing in it can be found. */
export function requireBoundary(contentType: string): string {
  const header = contentTypeOf(contentType);
  const boundary = header?.parameters['boundary'] ?? '';
  if (header?.type !== 'multipart/form-data' || !boundaryShape.test(boundary) || /["\\]/.test(boundary)) {
    throw new ApiError('INCORRECT_CONTENT_TYPE');
  }
  return boundary;
}

/**
 * Bodies of the C++ SDK end with one more opening boundary where the closing one belongs, so bytes that may be the
 * beginning of one are held back until it is known whether they are the last. A body without bytes is a form without parts.
 */
export async function* closed(source: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer> {
  const opening = Buffer.from(`\r\n--${boundary}\r\n`);
  const closing = Buffer.from(`\r\n--${boundary}--\r\n`);
  let held: Buffer = Buffer.from('\r\n');
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    const known = chunk.length < opening.length ? [Buffer.concat([held, chunk])] : [held, chunk];
    const last = known.pop()!;
    const cut = beginningIn(last, opening);
    for (const piece of [...known, last.subarray(0, cut)]) if (piece.length > 0) yield piece;
    held = last.subarray(cut);
  }
  yield bytes === 0 || held.equals(opening) ? closing : held;
}

const RETURN = 0x0d;

/** Where the end of the bytes is the beginning of a boundary, or all of one; their length where it is not. */
function beginningIn(bytes: Buffer, opening: Buffer): number {
  let at = bytes.indexOf(RETURN, Math.max(0, bytes.length - opening.length));
  while (at !== -1 && !bytes.subarray(at).equals(opening.subarray(0, bytes.length - at)))
    at = bytes.indexOf(RETURN, at + 1);
  return at === -1 ? bytes.length : at;
}
