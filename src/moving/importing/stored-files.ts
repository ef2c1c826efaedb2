import { announceArrival, storageKeyOf } from '../../files/modfiles/bytes.ts';
import { safeFilename } from '../../files/modfiles/filenames.ts';
import type { App } from '../../platform/app.ts';
import { ArchiveProblem as BadZip, inspectArchive, storedSource } from '../../platform/archives/archives.ts';
import {
  avatarImage,
  galleryImage,
  headerImage,
  type ImageKind,
  ImageProblem,
  iconImage,
  imageFolder,
  isImageComplete,
  logoImage,
  renderImage,
} from '../../platform/images/images.ts';
import { claimPictures } from '../../platform/images/pictures.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import { isKey, type StoredObject } from '../../platform/storage/storage.ts';
import { FILES_FOLDER } from '../archive/manifest.ts';
import type { Source } from '../archive/source.ts';
import type { Given } from './defaults.ts';
import { RowProblem } from './rows.ts';

export interface FileLine {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const PICTURE = /^images\/[0-9a-f]{32}-(?:logo|icon|header|avatar|image)\/[a-z0-9_]+\.png$/;

/** Stores a file of an exported archive under its own key. What already exists under the key stays as it is. */
export async function storeObject(app: App, source: Source, line: FileLine): Promise<void> {
  const { name, bytes, sha256 } = line;
  const isPicture = PICTURE.test(name);
  if (typeof name !== 'string' || !isKey(name) || (!isPicture && name !== storageKeyOf(String(sha256))))
    throw new RowProblem(`${JSON.stringify(String(name).slice(0, 100))} is not the name of a stored file`);
  if ((await app.storage.stat(name))?.bytes === bytes) return;
  const { incoming, stored } = await receive(app, source, name);
  try {
    if (stored.sha256 !== sha256) throw new RowProblem(`${name} does not have its digest`);
    if (isPicture && !(await beginsWith(app, incoming, PNG))) throw new RowProblem(`${name} is not a PNG picture`);
    await app.storage.move(incoming, name);
  } finally {
    await app.storage.remove(incoming);
  }
}

async function receive(app: App, source: Source, name: string): Promise<{ incoming: string; stored: StoredObject }> {
  const path = `${FILES_FOLDER}${name}`;
  if (!isKey(path)) throw new RowProblem(`${JSON.stringify(name.slice(0, 100))} is not the name of a file`);
  if ((await source.bytesOf(path)) === undefined) throw new RowProblem(`the archive lacks ${path}`);
  const incoming = `incoming/${app.random.uuid()}`;
  return { incoming, stored: await app.storage.put(incoming, await source.open(path)) };
}

async function beginsWith({ storage }: App, key: string, bytes: Buffer): Promise<boolean> {
  const object = await storage.read(key);
  if (!object) return false;
  try {
    const begin = Buffer.alloc(bytes.length);
    return (await object.readInto(begin, 0)) === bytes.length && begin.equals(bytes);
  } finally {
    await object.close();
  }
}

/** What the files of a line add to its row, and the arrivals that the transaction must conclude. */
export interface FromFiles {
  readonly fields: Given;
  readonly arrivals: readonly string[];
  /** Pictures that the row is taken without. */
  readonly problems: readonly string[];
}

const PICTURES: Readonly<Record<string, { readonly column: string; readonly kind: ImageKind }>> = {
  logo_file: { column: 'logo', kind: logoImage(1, 1) },
  icon_file: { column: 'icon', kind: iconImage },
  header_file: { column: 'header', kind: headerImage },
  avatar_file: { column: 'avatar', kind: avatarImage },
};

/** Stores the files that a line names: a mod's archive is inspected and a picture rendered, as after an upload. */
export async function takeFiles(app: App, source: Source, kind: string, given: Given): Promise<FromFiles> {
  const fields: Record<string, unknown> = {};
  const arrivals: string[] = [];
  const problems: string[] = [];
  for (const [field, { column, kind: image }] of Object.entries(PICTURES))
    if (given[field] !== undefined)
      try {
        fields[column] = (await takePicture(app, source, String(given[field]), image)).folder;
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error;
        problems.push(`taken without ${column}: ${error.message}`);
      }
  if (given['file'] !== undefined && kind === 'modfiles')
    Object.assign(fields, await takeModfile(app, source, given, arrivals));
  if (given['file'] !== undefined && kind === 'mod_media') {
    const { folder, bytes } = await takePicture(app, source, String(given['file']), galleryImage);
    Object.assign(fields, { kind: 'image', value: folder, bytes });
  }
  return { fields, arrivals, problems };
}

async function takePicture(app: App, source: Source, name: string, kind: ImageKind) {
  const { incoming, stored } = await receive(app, source, name);
  try {
    const folder = imageFolder(stored.sha256, kind);
    const picture = { field: kind.name, key: incoming, kind, folder };
    await writeAfterRemoval(app, (transaction) => claimPictures(app, transaction, [picture]));
    // An import that continues, or brings changes, has most of its pictures already.
    if (!(await isImageComplete(app.storage, folder, kind))) await renderImage(app.storage, incoming, folder, kind);
    return { folder, bytes: stored.bytes };
  } catch (error) {
    if (error instanceof ImageProblem) throw new RowProblem(`${name} is not a usable picture (${error.reason})`);
    throw error;
  } finally {
    await app.storage.remove(incoming);
  }
}

async function takeModfile(app: App, source: Source, given: Given, arrivals: string[]): Promise<Given> {
  const name = String(given['file']);
  const { incoming, stored } = await receive(app, source, name);
  try {
    for (const digest of ['md5', 'sha256'] as const)
      if (given[digest] !== undefined && given[digest] !== stored[digest])
        throw new RowProblem(`${name} does not have the ${digest} of its line`);
    const { bytesUncompressed } = await inspectArchive((await storedSource(app.storage, incoming))!);
    const key = storageKeyOf(stored.sha256);
    arrivals.push(await writeAfterRemoval(app, (transaction) => announceArrival(app, transaction, key)));
    await app.storage.move(incoming, key);
    return {
      filesize: stored.bytes,
      filesize_uncompressed: bytesUncompressed,
      md5: stored.md5,
      sha256: stored.sha256,
      storage_key: key,
      filename: safeFilename(String(given['filename'] ?? name.slice(name.lastIndexOf('/') + 1))),
    };
  } catch (error) {
    if (error instanceof BadZip) throw new RowProblem(`${name} is not a usable zip (${error.reason})`);
    throw error;
  } finally {
    await app.storage.remove(incoming);
  }
}
