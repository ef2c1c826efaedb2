import type { App } from '../../platform/app.ts';

/** The file that a link downloads. The signature covers the id and the hash of its bytes. */
export interface LinkedFile {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
  readonly sha256: string;
  readonly kind?: 'file' | 'source';
}

const HOUR = 3_600;
const LIFETIME = 24 * HOUR;
const PURPOSE = 'download';

/** Bit of the game's `api_access_options`: without it every link is signed. */
const DIRECT_DOWNLOADS = 2;

export const needsSignature = (apiAccessOptions: number): boolean => (apiAccessOptions & DIRECT_DOWNLOADS) === 0;

/** When links change next. Responses that contain one are cached no longer. */
export const linksChangeAt = (now: number): number => (Math.floor(now / HOUR) + 1) * HOUR;

/** Links expire on the hour, 24 to 25 hours from now, so that every request within an hour gets the same link. */
export const expiryAt = (now: number): number => linksChangeAt(now) + LIFETIME;

/** The query parameter with the signature in links of single files. */
const LINK_PARAMETER = 'verification_hash';

/**
 * A link that downloads the file without other credentials. Links in lists have the signature as their last path segment,
 * those of single files as a query parameter. It has no dot, because the C++ SDK parses text after the last `.` of an
 * address as the end of the host.
 */
export function downloadLink(
  app: Pick<App, 'addresses' | 'clock' | 'secrets'>,
  file: LinkedFile,
  { alone }: { alone: boolean },
): { binary_url: string; date_expires: number } {
  const expires = expiryAt(app.clock.now());
  const { id, mod_id, game_id, kind } = file;
  const ofMod = `${app.addresses.gameApi(game_id)}/games/${game_id}/mods/${mod_id}`;
  if (kind === 'source')
    return {
      binary_url: `${ofMod}/sources/${id}/download/${segmentOf(app.secrets, fileOf(file), expires)}`,
      date_expires: expires,
    };
  const address = `${ofMod}/files/${id}/download`;
  const signature = signerUntil(app, expires)(id, () => fileOf(file)).toString('latin1');
  const binary_url = alone ? `${address}?${LINK_PARAMETER}=${signature}` : `${address}/${signature}`;
  return { binary_url, date_expires: expires };
}

/** Whether the signature belongs to the file and has not expired. */
export function isValidLink(app: Pick<App, 'secrets'>, file: LinkedFile, segment: string, now: number): boolean {
  const [, digits, signature] = /^(\d{1,12})-([\w-]{43})$/.exec(segment) ?? [];
  if (digits === undefined || signature === undefined || Number(digits) <= now) return false;
  return app.secrets.verify(PURPOSE, `${fileOf(file)}/${Number(digits)}`, signature);
}

/**
 * The signatures of the current hour by file id: lists of mods need the same ones again and again, and the bytes of a file
 * never change. Sources have ids of their own and are signed each time.
 */
const cachedSegments = new WeakMap<App['secrets'], { expires: number; segments: Map<number, Buffer> }>();
const CACHED_MAX = 20_000;

/** Returns the last segments of links that expire then. `file` is called only for signatures that are not cached. */
export function signerUntil(
  { secrets }: Pick<App, 'secrets'>,
  expires: number,
): (id: number, file: () => SignedFile) => Buffer {
  const last = cachedSegments.get(secrets);
  const hour = last?.expires === expires && last.segments.size < CACHED_MAX ? last : { expires, segments: new Map() };
  cachedSegments.set(secrets, hour);
  return (id, file) => {
    const known = hour.segments.get(id);
    if (known !== undefined) return known;
    const segment = Buffer.from(segmentOf(secrets, file(), expires));
    hour.segments.set(id, segment);
    return segment;
  };
}

const segmentOf = (secrets: App['secrets'], file: SignedFile, expires: number): string =>
  `${expires}-${secrets.sign(PURPOSE, `${file}/${expires}`)}`;

/** Hexadecimal digits of the hash in a signed text. They identify the bytes, and a signature is at least as long. */
export const HASH_DIGITS = 43;
/** The digits of a file's hash in its link, as the database writes it. */
export const hashIn = (link: string): string => link.slice(-HASH_DIGITS);
export const BEFORE_HASH = '/download/';
/** The signed text: the id of the file and the first digits of the hash of its bytes. */
export type SignedFile = `${number}${typeof BEFORE_HASH}${string}`;

/** The part of a link between the address of mods and the signature. */
export const linkedFile = (file: LinkedFile): string => `${file.mod_id}/files/${fileOf(file)}`;

const fileOf = ({ id, sha256 }: LinkedFile): SignedFile => `${id}${BEFORE_HASH}${sha256.slice(0, HASH_DIGITS)}`;
