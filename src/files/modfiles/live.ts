import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

/** Takes the place of a platform name: the file that is shown when the client names no platform. */
export const SHOWN = '';

/** The id of the live file per platform. */
export type LiveFiles = ReadonlyMap<string, number>;

export const isPlatform = (name: string): boolean => name !== SHOWN;

/** Makes the file live on these platforms; `SHOWN` can be among them. */
export function released(live: LiveFiles, fileId: number, platforms: readonly string[]): LiveFiles {
  return new Map([...live, ...platforms.map((platform) => [platform, fileId] as const)]);
}

/**
 * Removes the file from these platforms. If it is then live on none, the newest file that is live somewhere is shown
 * instead.
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

/** Stores the live files. Returns false if nothing changed. */
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
