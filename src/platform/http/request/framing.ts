import { ApiError } from '../../errors/catalogue.ts';
import { contentTypeOf } from './body.ts';

/** RFC 2046 allows 70 characters; the parser searches for up to 252. */
const boundaryShape = /^[\x20-\x7e]{1,200}$/;

/** The boundary of a multipart/form-data body; a body without one cannot be parsed. */
export function requireBoundary(contentType: string): string {
  const header = contentTypeOf(contentType);
  const boundary = header?.parameters['boundary'] ?? '';
  if (header?.type !== 'multipart/form-data' || !boundaryShape.test(boundary) || /["\\]/.test(boundary)) {
    throw new ApiError('INCORRECT_CONTENT_TYPE');
  }
  return boundary;
}

/**
 * The C++ SDK ends bodies with another opening boundary instead of the closing one, so possible starts of a boundary
 * are withheld until more bytes arrive. An empty body is a form without parts.
 */
export class Framing {
  readonly #opening: Buffer;
  readonly #closing: Buffer;
  #held: Buffer = Buffer.from('\r\n');
  #isEmpty = true;

  constructor(boundary: string) {
    this.#opening = Buffer.from(`\r\n--${boundary}\r\n`);
    this.#closing = Buffer.from(`\r\n--${boundary}--\r\n`);
  }

  /** The bytes that are certainly part of the body after this chunk. */
  take(chunk: Buffer): Buffer[] {
    this.#isEmpty &&= chunk.length === 0;
    const isShort = this.#held.length > 0 && chunk.length < this.#opening.length;
    const last = isShort ? Buffer.concat([this.#held, chunk]) : chunk;
    const known = isShort || this.#held.length === 0 ? [] : [this.#held];
    const cut = beginningIn(last, this.#opening);
    this.#held = cut < last.length ? Buffer.from(last.subarray(cut)) : NOTHING;
    if (cut > 0) known.push(last.subarray(0, cut));
    return known;
  }

  end(): Buffer {
    return this.#isEmpty || this.#held.equals(this.#opening) ? this.#closing : this.#held;
  }
}

const NOTHING = Buffer.alloc(0);
const RETURN = 0x0d;

/** The position where a trailing, possibly partial boundary starts; the length if there is none. */
function beginningIn(bytes: Buffer, opening: Buffer): number {
  let at = bytes.indexOf(RETURN, Math.max(0, bytes.length - opening.length));
  while (at !== -1 && !bytes.subarray(at).equals(opening.subarray(0, bytes.length - at)))
    at = bytes.indexOf(RETURN, at + 1);
  return at === -1 ? bytes.length : at;
}
