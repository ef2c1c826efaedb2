import { reader } from '../../platform/access/caller.ts';
import { GamePath, ModPath, page, pageOf } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { isVisibleToClass } from '../mods/access.ts';
import { ModStatsObject, toModStats } from '../mods/object.ts';
import { listStats, statsListing, statsOfMod } from './stats.ts';

export const getModsStats = operation({
  id: 'get-mods-stats',
  tag: 'Stats',
  method: 'GET',
  path: '/games/{game_id}/mods/stats',
  says: 'Lists the stats of the public mods of a game; for a platform, where the game has platforms, of the mods that are live on it, with their downloads there. Counts are a few seconds old at most.',
  access: reader(),
  params: GamePath,
  list: statsListing,
  returns: ok(pageOf(ModStatsObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params, list, platform, cache }) => {
    const { stats, total } = await listStats(app, caller, params.game_id, list, platform);
    cache(`games/${params.game_id}/mods`, `games/${params.game_id}`);
    return page(
      stats.map((each) => toModStats(each.mod_id, each)),
      total,
      list,
    );
  },
});

export const getModStats = operation({
  id: 'get-mod-stats',
  tag: 'Stats',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/stats',
  says: 'Shows the stats of a mod; for a platform, where the game has platforms, with its downloads there. Ranks and the downloads of the last day are refreshed every hour, at `date_expires`.',
  access: reader(),
  params: ModPath,
  returns: ok(ModStatsObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'],
  handle: async (app, { caller, params, platform, cache }) => {
    const stats = await statsOfMod(app, caller, params.game_id, params.mod_id, platform);
    if (await isVisibleToClass(app.db, caller, params.mod_id))
      cache(`mods/${params.mod_id}`, `games/${params.game_id}`);
    return toModStats(params.mod_id, stats);
  },
});

export const statsOperations = [getModsStats, getModStats];
