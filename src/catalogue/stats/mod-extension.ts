import { contribute } from '../../platform/extensions.ts';
import { countForGame } from '../games/stats.ts';
import { modExtensions } from '../mods/extensions.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'stats',
  // Today's downloads of the mod are part of the game's.
  onRemove: async (_, transaction, mod) => {
    const downloads = await store.removeHoursBefore(transaction, mod.id, Number.MAX_SAFE_INTEGER);
    if (downloads > 0) await countForGame(transaction, mod.game_id, { mods_downloads_today: -downloads });
  },
});
