import { type ModRow, refreshMod } from '../../catalogue/mods/mods.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { writeDocument } from './documents.ts';
import { SHOWN } from './live.ts';
import * as store from './store.ts';

/** Of a file on a platform. */
const PENDING = 0;
export const APPROVED = 1;
export const DENIED = 2;

/** What a new file is on a platform. */
export const statusOn = ({ platform, moderated }: store.GamePlatform): store.FilePlatform => ({
  platform,
  status: moderated ? PENDING : APPROVED,
});

const approvedOn = ({ platform }: store.GamePlatform): store.FilePlatform => ({ platform, status: APPROVED });

export const notAmong = (field: string, platforms: readonly { platform: string }[]) =>
  new ApiError('VALIDATION_GENERIC', {
    fields: [{ field, rule: 'enum', values: { values: platforms.map(({ platform }) => platform).join(', ') } }],
  });

/** What runs on locked platforms is made from sources, and not uploaded. */
async function openPlatforms(transaction: Transaction, gameId: number): Promise<store.GamePlatform[]> {
  return (await store.platformsOfGame(transaction, gameId)).filter(({ locked }) => locked === 0);
}

/** Where a new file is to run. In a game without platforms every file runs everywhere, and says nothing of it. */
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
 * A file that was uploaded before its game had platforms names none. Before such a file, or the one that the mod shows,
 * takes part in a release or a decision, this stores its platforms: a released file is approved on every open platform,
 * moderated ones included, because players there have it already; any other file waits there like a new upload.
 * Returns whether the file named no platforms until now.
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

/** Stores the platforms of a file that names none; returns false if it names some. */
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
