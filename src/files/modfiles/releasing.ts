import { CURATION } from '../../catalogue/games/settings.ts';
import {
  applyModChanges,
  invalidateMod,
  MOD_ACCEPTED,
  MOD_NOT_ACCEPTED,
  type ModRow,
  modChanged,
} from '../../catalogue/mods/mods.ts';
import { isHeld } from '../../catalogue/rules/evaluation.ts';
import { notifySubscribers } from '../../people/notifications/notifications.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { isScanPassed } from '../../platform/scanning/states.ts';
import { writeDocument } from './documents.ts';
import { dropPostponed, isPostponed, type Releasing } from './extensions.ts';
import { isPlatform, type LiveFiles, putLiveFiles, recalled, released, SHOWN } from './live.ts';
import { APPROVED, settlePlatforms } from './platforms.ts';
import { enqueueReleaseMails } from './release-mails.ts';
import * as store from './store.ts';

/** Makes a file live at once, unless an extension postpones it. */
export async function release(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  releasing: Releasing,
): Promise<void> {
  const places = await placesOf(app, transaction, mod, file, releasing);
  const live = await store.liveFilesOf(transaction, mod.id);
  const isLive = places.every((place) => live.get(place) === file.id);
  if (!isLive && (await isPostponed(app, transaction, file, releasing))) return;
  await takePlaces(app, transaction, mod, file, places, releasing.userId);
}

/** The platforms that have approved the file, and `SHOWN` if it is also shown without a platform. */
async function placesOf(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  { shown }: Releasing,
): Promise<string[]> {
  await settlePlatforms(app, transaction, mod, file);
  const platforms = await store.platformsOf(transaction, file.id);
  const approved = platforms.filter(({ status }) => status === APPROVED).map(({ platform }) => platform);
  if (platforms.length > 0 && approved.length === 0) return [];
  return shown ? [...approved, SHOWN] : approved;
}

/**
 * Makes a file live on the platforms that have approved it, after its scan if that has to come first; the last request
 * for a platform wins. The first live file of a mod also accepts the mod.
 */
export const makeLive = async (
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  releasing: Releasing,
): Promise<void> =>
  takePlaces(app, transaction, mod, file, await placesOf(app, transaction, mod, file, releasing), releasing.userId);

async function takePlaces(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  places: readonly string[],
  userId: number,
): Promise<void> {
  if (places.length === 0) return;
  for (const place of places) await store.putAwaited(transaction, mod.id, place, file.id);
  await releaseAwaited(app, transaction, mod, file, userId);
}

/** Makes a file live on the platforms that await it, if it has passed its scan. */
export async function releaseAwaited(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  userId: number,
): Promise<void> {
  if (file.withdrawn === 1 || !isScanPassed(file, app.settings)) return;
  const awaited = await store.awaitedOf(transaction, file.id);
  if (awaited.length === 0) return;
  await store.removeAwaited(transaction, file.id);
  // The request is older than the game’s platforms, so it applies to all of them.
  const isForAll = await settlePlatforms(app, transaction, mod, file);
  const targets = await store.platformsOf(transaction, file.id);
  const isApproved = (name: string) => targets.some(({ platform, status }) => platform === name && status === APPROVED);
  const wanted = isForAll ? targets.map(({ platform }) => platform) : awaited.filter(isPlatform);
  const platforms = wanted.filter(isApproved);
  // The game’s team has denied the file on every platform since the request.
  if (targets.length > 0 && platforms.length === 0) return;
  await changeLive(app, transaction, mod, userId, (live) => {
    const isShown = awaited.includes(SHOWN) || !live.has(SHOWN);
    return released(live, file.id, isShown ? [...platforms, SHOWN] : platforms);
  });
}

/** Removes the file from every platform, and drops its pending releases. */
async function recall(app: App, transaction: Transaction, mod: ModRow, fileId: number, userId: number): Promise<void> {
  await store.removeAwaited(transaction, fileId);
  await dropPostponed(app, transaction, fileId);
  await changeLive(app, transaction, mod, userId, (live) => recalled(live, fileId, () => true));
}

/** Handles `active=false`. A live file is private to the teams until it is live again; an older version stays public. */
export async function deactivate(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  userId: number,
): Promise<void> {
  const live = await store.liveFilesOf(transaction, mod.id);
  if ([...live.values()].includes(file.id)) await store.change(transaction, file.id, { released: 0 });
  await recall(app, transaction, mod, file.id, userId);
}

export async function changeLive(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  userId: number,
  change: (live: LiveFiles) => LiveFiles,
): Promise<void> {
  const before = await store.liveFilesOf(transaction, mod.id);
  const after = change(before);
  if (!(await putLiveFiles(transaction, mod.id, before, after))) return;
  await enqueueReleaseMails(app, transaction, mod.id, userId, { before, after });
  if (after.size > 0 && (await isAcceptedByFile(transaction, mod)))
    await applyModChanges(app, transaction, mod, { status: MOD_ACCEPTED }, userId);
  if (isUpdate(mod, before, after))
    await notifySubscribers(app, transaction, { modId: mod.id, gameId: mod.game_id, actorId: userId });
  await modChanged(app, transaction, mod, { userId, type: 'MODFILE_CHANGED' });
}

/** Whether subscribers can download a newer file. */
const isUpdate = ({ status, visible }: ModRow, before: LiveFiles, after: LiveFiles): boolean => {
  if (status !== MOD_ACCEPTED || visible !== 1 || before.size === 0) return false;
  const newest = Math.max(...before.values());
  return [...after.values()].some((id) => id > newest);
};

/** Only for a mod that was never accepted: one that the game’s team has rejected stays rejected. */
async function isAcceptedByFile(transaction: Transaction, mod: ModRow): Promise<boolean> {
  if (mod.status !== MOD_NOT_ACCEPTED || mod.date_live !== 0) return false;
  const isCurated = (await store.curationOf(transaction, mod.game_id)) === CURATION.everything;
  return !isCurated && !(await isHeld(transaction, 'mods', mod.id));
}

/** Takes a file down or restores it. A withdrawn file is live nowhere, and nobody can download it. */
export async function withdrawModfile(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  fileId: number,
  { withdrawn, userId }: { readonly withdrawn: boolean; readonly userId: number },
): Promise<void> {
  const changes = { withdrawn: Number(withdrawn), date_updated: app.clock.now() };
  await writeDocument(transaction, await store.change(transaction, fileId, changes));
  if (withdrawn) await recall(app, transaction, mod, fileId, userId);
  invalidateMod(transaction, mod.game_id, mod.id);
}
