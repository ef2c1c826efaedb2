import { requireGame } from '../../catalogue/games/games.ts';
import { levelsOf, requireMod } from '../../catalogue/mods/mods.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as reading from '../../records/metrics/reading.ts';

async function requireTeam(app: App, caller: Caller, gameId: number): Promise<void> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

export async function daysOf(app: App, caller: Caller, place: reading.Place, span: reading.Span) {
  await requireTeam(app, caller, place.gameId);
  return reading.readDays(app, place, span);
}

/** The days of a mod, for its team and the game's. */
export async function modDaysOf(app: App, caller: Caller, gameId: number, place: reading.ModPlace, span: reading.Span) {
  const mod = await requireMod(app.db, caller, gameId, place.modId);
  const levels = await levelsOf(app.db, caller, mod);
  if (Math.max(levels.mod, levels.game) < MODERATOR) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return reading.readModDays(app, place, span);
}

export async function monthsOf(app: App, caller: Caller, place: reading.Place, span: reading.Span) {
  await requireTeam(app, caller, place.gameId);
  return reading.readMonths(app, place, span);
}

export async function topOf(
  app: App,
  caller: Caller,
  place: reading.Place,
  ranking: reading.Ranking,
  month: string | undefined,
) {
  await requireTeam(app, caller, place.gameId);
  return reading.readTop(app, place, ranking, month);
}
