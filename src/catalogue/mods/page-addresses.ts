import type { App } from '../../platform/app.ts';
import { BEFORE_HASH, HASH_DIGITS, type SignedFile, signerUntil } from '../live-files/links.ts';

/** A signature's placeholder is the string to sign, followed by a character that JSON never contains. */
const GAP_SIGN = 1;
const SEGMENT_LENGTH = '1234567890-'.length + 43;
const SIGNATURE_GAP = String.fromCharCode(GAP_SIGN).repeat(SEGMENT_LENGTH - HASH_DIGITS);

/** The JSON around the part of a link that belongs to the file alone. */
export interface LinkParts {
  readonly before: string;
  readonly behind: string;
}

/** Closes a stored modfile with its link in lists; `withSignatures` completes it. */
export const linkParts = (app: App, gameId: number, expires: number): LinkParts => ({
  before: `,"download":{"binary_url":"${app.addresses.gameApi(gameId)}/games/${gameId}/mods/`,
  behind: `${SIGNATURE_GAP}","date_expires":${expires}}}`,
});

/** Replaces each placeholder with its signature. */
export function withSignatures(app: App, page: Buffer, expires: number): Buffer {
  const segmentFor = signerUntil(app, expires);
  for (let gap = page.indexOf(GAP_SIGN); gap !== -1; gap = page.indexOf(GAP_SIGN, gap)) {
    const mark = gap - HASH_DIGITS;
    const behindId = mark - BEFORE_HASH.length;
    const file = () => `${idBefore(page, behindId)}${page.toString('latin1', behindId, gap)}` as SignedFile;
    const segment = segmentFor(idBefore(page, behindId), file);
    page.set(segment, mark);
    gap = mark + segment.length;
  }
  return page;
}

const [ZERO, NINE] = [0x30, 0x39];

/** Parses the number whose digits end before this position, without creating a string for it. */
function idBefore(page: Buffer, end: number): number {
  let [id, power] = [0, 1];
  for (let at = end - 1; page[at]! >= ZERO && page[at]! <= NINE; at -= 1) {
    id += (page[at]! - ZERO) * power;
    power *= 10;
  }
  return id;
}

/** The character before an address that has to be percent-encoded; JSON never contains it either. */
export const UNENCODED = 2;
const MARK = String.fromCharCode(UNENCODED);
const MARKED = new RegExp(`${MARK}[^"]*`, 'g');
const encoded = (marked: string): string => encodeURI(marked.slice(MARK.length)).replaceAll('%25', '%');

export const withEncodedAddressesIn = (json: string): string =>
  json.includes(MARK) ? json.replace(MARKED, encoded) : json;

const QUOTE = '"'.charCodeAt(0);

/** As `withEncodedAddressesIn`, without decoding a page of which only some addresses change. */
export function withEncodedAddresses(page: Buffer): Buffer {
  let mark = page.indexOf(UNENCODED);
  if (mark === -1) return page;
  const parts: Buffer[] = [];
  let copied = 0;
  for (; mark !== -1; mark = page.indexOf(UNENCODED, copied)) {
    const end = page.indexOf(QUOTE, mark);
    parts.push(page.subarray(copied, mark), Buffer.from(encoded(page.toString('utf8', mark, end))));
    copied = end;
  }
  parts.push(page.subarray(copied));
  return Buffer.concat(parts);
}
