import type { App } from '../../platform/app.ts';

/** What a link is for: the signature holds for these bytes of this file, and for nothing else. */
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
export const DIRECT_DOWNLOADS = 2;

export const needsSignature = (apiAccessOptions: number): boolean => (apiAccessOptions & DIRECT_DOWNLOADS) === 0;

/** Until when links that are made now will be the same: answers that hold one are kept no longer. */
export const linksChangeAt = (now: number): number => (Math.floor(now / HOUR) + 1) * HOUR;

/** Links end on the hour, a day or a little more from now, so that all who ask within an hour get the same. */
export const expiryAt = (now: number): number => linksChangeAt(now) + LIFETIME;

/** The query parameter that holds the signature in links of single files. */
export const LINK_PARAMETER = 'verification_hash';

/**
 * Where a file can be downloaded without other credentials. The specification gives links in lists one more path segment
 * than those of single items, which therefore have the signature in their query. It must not contain a dot: the C++ SDK
 * takes the last `.` and letters of an address for the end of its host.
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

/** Whether this signature of a link was made for the file, and has not expired. */
export function isValidLink(app: Pick<App, 'secrets'>, file: LinkedFile, segment: string, now: number): boolean {
  const [, digits, signature] = /^(\d{1,12})-([\w-]{43})$/.exec(segment) ?? [];
  if (digits === undefined || signature === undefined || Number(digits) <= now) return false;
  return app.secrets.verify(PURPOSE, `${fileOf(file)}/${Number(digits)}`, signature);
}

/**
 * Pages of a hundred mods ask for the same signatures over and over; those of the current hour are remembered, by the
 * file, whose bytes never change. Sources have numbers of their own and are signed each time.
 */
const remembered = new WeakMap<App['secrets'], { expires: number; segments: Map<number, Buffer> }>();
const REMEMBERED_MAX = 20_000;

/** Gives the last segments of links that hold until then; `file` is asked for only where it is not remembered. */
export function signerUntil(
  { secrets }: Pick<App, 'secrets'>,
  expires: number,
): (id: number, file: () => SignedFile) => Buffer {
  const last = remembered.get(secrets);
  const hour =
    last?.expires === expires && last.segments.size < REMEMBERED_MAX ? last : { expires, segments: new Map() };
  remembered.set(secrets, hour);
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

/** So many hexadecimal digits tell the bytes of a file from all others, and a signature is no shorter than they. */
export const MARK_DIGITS = 43;
export const BEFORE_MARK = '/download/';
/** What a signature is for: the id of the file, and the beginning of the hash of its bytes. */
export type SignedFile = `${number}${typeof BEFORE_MARK}${string}`;

/** Of a link to a file of a mod what stands behind the address of mods, up to the signature. */
export const linkedFile = (file: LinkedFile): string => `${file.mod_id}/files/${fileOf(file)}`;

const fileOf = ({ id, sha256 }: LinkedFile): SignedFile => `${id}${BEFORE_MARK}${sha256.slice(0, MARK_DIGITS)}`;
