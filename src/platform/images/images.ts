import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { localStorage } from '../storage/local.ts';
import type { Storage } from '../storage/storage.ts';
import { type ImageKind, namesOf } from './kinds.ts';
import { ImageProblem } from './problem.ts';
import { Renderers } from './renderers.ts';
import { isPicture } from './sniff.ts';

export * from './folders.ts';
export * from './kinds.ts';
export { ImageProblem, type ImageReason, ImagesBusy } from './problem.ts';

/** The maximum for every operation, whatever its own limit. */
const SOURCE_BYTES_MAX = 32 * 1024 * 1024;

/** Shown if there is no picture. The files come with the program. */
export const placeholders: Storage = localStorage(fileURLToPath(new URL('./placeholders', import.meta.url)));

/** Loads and starts nothing before the first image. */
const renderers = new Renderers();

/**
 * Renders an untrusted upload as PNGs: `original.png`, and a `thumb_WxH.png` for every size of the kind. Throws
 * `ImageProblem` if it cannot.
 */
export async function renderImage(
  storage: Storage,
  sourceKey: string,
  targetFolder: string,
  kind: ImageKind,
): Promise<void> {
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'modstead-image-'));
  await fetchSource(storage, sourceKey, join(scratch.path, 'source'));
  const names = await renderers.render({ folder: scratch.path, min: kind.min, thumbs: kind.thumbs });
  for (const name of names) await storage.put(`${targetFolder}/${name}`, createReadStream(join(scratch.path, name)));
}

async function fetchSource(storage: Storage, key: string, file: string): Promise<void> {
  const opened = await storage.open(key);
  if (!opened) throw new Error(`there is no upload ${key}`);
  if (opened.bytes > SOURCE_BYTES_MAX) {
    opened.stream.destroy();
    throw new ImageProblem('too-large');
  }
  await pipeline(opened.stream, createWriteStream(file));
  if (!(await isPicture(file))) throw new ImageProblem('type');
}

export async function isImageComplete(storage: Storage, folder: string, kind: ImageKind): Promise<boolean> {
  const found = await Promise.all(namesOf(kind).map((name) => storage.stat(`${folder}/${name}.png`)));
  return found.every((one) => one !== undefined);
}
