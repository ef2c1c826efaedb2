import type { Transaction } from '../../platform/database/database.ts';
import { countForGame } from '../games/games.ts';
import * as store from './store.ts';

/** The downloads of today were also the game's. */
export async function removeHoursOfMod(transaction: Transaction, mod: { id: number; game_id: number }): Promise<void> {
  const downloads = await store.takeHoursBefore(transaction, mod.id, Number.MAX_SAFE_INTEGER);
  if (downloads > 0) await countForGame(transaction, mod.game_id, { mods_downloads_today: -downloads });
}
