import { type ModRow, refreshMod } from '../../catalogue/mods/mods.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { writeDocument } from './documents.ts';
import { SHOWN } from './live.ts';
import * as store from './store.ts';

/** The status of a file on a platform. */
const PENDING = 0;
export const APPROVED = 1;
export const DENIED = 2;

/** The status of a new file on a platform. */
export const statusOn = ({ platform, moderated }: store.GamePlatform): store.FilePlatform => ({
  platform,
  status: moderated ? PENDING : APPROVED,
});

const approvedOn = ({ platform }: store.GamePlatform): store.FilePlatform => ({ platform, status: APPROVED });

export const notAmong = (field: string, platforms: readonly { platform: string }[]) =>
  new ApiError('VALIDATION_GENERIC', {
    fields: [{ field, rule: 'enum', values: { values: platforms.map(({ platform }) => platform).join(', ') } }],
  });

/** Files for locked platforms are cooked from sources; nobody uploads them. */
async function openPlatforms(transaction: Transaction, gameId: number): Promise<store.GamePlatform[]> {
  return (await store.platformsOfGame(transaction, gameId)).filter(({ locked }) => locked === 0);
}

/** The platforms of a new file. In a game without platforms every file runs everywhere and has no rows. */
export async function targetsFor(
  transaction: Transaction,
  gameId: number,
  asked: readonly string[] | undefined,
): Promise<store.FilePlatform[]> {
  const open = await openPlatforms(transaction, gameId);
  if (open.length === 0) return [];
  const wanted = asked === undefined || asked.length === 0 ? open.map(({ platform }) => platform) : asked;
  const targets = open.filter(({ platform }) => wanted.includes(platform));
  if (targets.length < new Set(wanted).size || targets.length === 0) throw notAmong('platforms', open);
  return targets.map(statusOn);
}

/**
 * Stores the platforms of a file from before its game had platforms, and of the one that the mod shows, when a release
 * or a decision needs them; returns whether the file had none. A released file is approved on every open platform,
 * because players there already have it; any other file awaits approval like a new one.
 */
export async function settlePlatforms(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
): Promise<boolean> {
  const open = await openPlatforms(transaction, mod.game_id);
  if (open.length === 0) return false;
  const live = await store.liveFilesOf(transaction, mod.id);
  const shownId = live.get(SHOWN);
  if (shownId !== undefined && (await isSettled(transaction, shownId, open.map(approvedOn)))) {
    for (const { platform } of open)
      if (!live.has(platform)) await store.putLive(transaction, mod.id, platform, shownId);
    await refreshMod(app, transaction, mod);
    if (shownId === file.id) return true;
  }
  return isSettled(transaction, file.id, open.map(file.released === 1 ? approvedOn : statusOn));
}

/** Stores the platforms of a file that has none. Returns false if it has some. */
async function isSettled(
  transaction: Transaction,
  fileId: number,
  targets: readonly store.FilePlatform[],
): Promise<boolean> {
  if ((await store.platformsOf(transaction, fileId)).length > 0) return false;
  await store.putPlatforms(transaction, fileId, targets);
  await writeDocument(transaction, (await store.rowOf(transaction, fileId))!);
  return true;
}
