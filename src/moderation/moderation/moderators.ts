import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';

/** Returns the caller's level in the game's team. */
export async function requireModerator(reader: Pick<Database, 'first'>, caller: Caller, gameId: number) {
  await requireGame(reader, caller, gameId);
  const level = await teamLevel(reader, caller, 'games', gameId);
  if (level < MODERATOR) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return level;
}
