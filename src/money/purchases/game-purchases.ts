import { requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

/** The mods that were bought in a game, for its administrators. */
export async function listGamePurchases(
  app: App,
  caller: UserCaller,
  filter: store.PurchaseFilter,
  page: { readonly limit: number; readonly offset: number },
) {
  await requireGame(app.db, caller, filter.game_id);
  if ((await teamLevel(app.db, caller, 'games', filter.game_id)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  return store.ofGame(app.db.query, filter, page);
}
