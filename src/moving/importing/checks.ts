import { type LinkKind, linkOf } from '../../catalogue/media/links.ts';
import { storageKeyOf } from '../../files/modfiles/bytes.ts';
import { safeFilename } from '../../files/modfiles/filenames.ts';
import { normalisedEmail } from '../../people/users/users.ts';
import type { Moved } from '../../platform/manifest/treatment.ts';
import { type Row, RowProblem } from './rows.ts';

const NAME_ID = /^[\p{L}\p{N}\p{M}_-]{1,100}$/u;
const PICTURE = /^images\/[0-9a-f]{32}-(?:logo|icon|header|avatar|image)$/;
const ADDRESSES = ['homepage_url', 'instructions_url'];
const JSON_COLUMNS = ['theme', 'other_urls'];

/** Checks what an upload would have checked and pages rely on: addresses, names, places of files. */
export function requireSafe(kind: string, { pictures = [] }: Moved, row: Row): void {
  for (const name of ADDRESSES)
    if (row[name] && !isAddress(row[name])) throw new RowProblem(`"${name}" is not an address`);
  // Sign-in looks for the normalised address.
  if (kind === 'users' && row['email']) row['email'] = normalisedEmail(String(row['email']));
  if (typeof row['name_id'] === 'string' && !NAME_ID.test(row['name_id']))
    throw new RowProblem('"name_id" must consist of letters, digits and hyphens');
  for (const name of JSON_COLUMNS) if (typeof row[name] === 'string') requireJson(name, row[name]);
  if (kind === 'mod_media' && row['kind'] !== 'image') {
    requireLink(row);
    return;
  }
  for (const name of pictures)
    if (row[name] !== null && !PICTURE.test(String(row[name])))
      throw new RowProblem(`"${name}" is not a stored picture`);
  if (kind !== 'modfiles') return;
  if (row['storage_key'] !== storageKeyOf(String(row['sha256'])))
    throw new RowProblem('"storage_key" is not that of its digest');
  row['filename'] = safeFilename(String(row['filename']));
}

function requireLink(row: Row): void {
  const kind = String(row['kind']);
  const link = kind === 'youtube' || kind === 'sketchfab' ? linkOf(kind as LinkKind, String(row['value'])) : undefined;
  if (link === undefined) throw new RowProblem('"value" leads to no video or model');
  row['value'] = link;
}

function isAddress(value: unknown): boolean {
  const url = URL.parse(String(value));
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}

function requireJson(name: string, text: string): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new RowProblem(`"${name}" is not JSON`);
  }
  if (name === 'theme' && (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)))
    throw new RowProblem('"theme" is not an object');
  if (name !== 'other_urls') return;
  const isList =
    Array.isArray(parsed) && parsed.every((each) => typeof each?.label === 'string' && isAddress(each?.url));
  if (!isList) throw new RowProblem('"other_urls" must be a list of labels and addresses');
}
