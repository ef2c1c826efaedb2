import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** In place of a platform: the file that is shown where none is asked for. */
export const SHOWN = '';

/** Which file of a mod is live for a platform. */
export type LiveFiles = ReadonlyMap<string, number>;

export const isPlatform = (name: string): boolean => name !== SHOWN;

/** The file becomes live on these platforms, and the one that is shown if that is among them. */
export function released(live: LiveFiles, fileId: number, platforms: readonly string[]): LiveFiles {
  return new Map([...live, ...platforms.map((platform) => [platform, fileId] as const)]);
}

/**
 * The file is no longer live on these platforms. Once it is live on none, the newest of those that are live somewhere
 * is shown in its place.
 */
export function recalled(live: LiveFiles, fileId: number, isMeant: (platform: string) => boolean): LiveFiles {
  const left = new Map(
    [...live].filter(([platform, id]) => id !== fileId || !isPlatform(platform) || !isMeant(platform)),
  );
  if (left.get(SHOWN) !== fileId) return left;
  const others = [...left].filter(([platform]) => isPlatform(platform)).map(([, id]) => id);
  if (others.includes(fileId)) return left;
  left.delete(SHOWN);
  return others.length === 0 ? left : left.set(SHOWN, Math.max(...others));
}

/** Writes what is live from now on; false where that is nothing new. */
export async function putLiveFiles(
  transaction: Transaction,
  modId: number,
  before: LiveFiles,
  after: LiveFiles,
): Promise<boolean> {
  const changed = [...after].filter(([platform, id]) => before.get(platform) !== id);
  const gone = [...before.keys()].filter((platform) => !after.has(platform));
  for (const [platform, id] of changed) await store.putLive(transaction, modId, platform, id);
  for (const id of new Set(changed.map(([, fileId]) => fileId))) await store.markReleased(transaction, id);
  for (const platform of gone) await store.removeLive(transaction, modId, platform);
  return changed.length + gone.length > 0;
}
