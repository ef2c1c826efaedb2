import type { Caller } from '../../platform/access/caller.ts';
import { accessChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ErrorName } from '../../platform/errors/catalogue.ts';
import { recordModEvent, recordUserEvent } from '../../records/events/events.ts';
import { announceGame, handOverGame, requireGame } from '../games/games.ts';
import { announceMod, handOverMod, isPublic, type ModStanding, requireMod } from '../mods/mods.ts';
import type { TeamResource } from './teams.ts';

/** What a team belongs to: a game, or a mod of one. */
export interface Place {
  readonly resource: TeamResource;
  readonly id: number;
  readonly gameId: number;
}

export const ofGame = ({ game_id }: { game_id: number }): Place => ({
  resource: 'games',
  id: game_id,
  gameId: game_id,
});

export const ofMod = ({ game_id, mod_id }: { game_id: number; mod_id: number }): Place => ({
  resource: 'mods',
  id: mod_id,
  gameId: game_id,
});

/** The place as far as its team needs it. The submitter leads the team; a game has no events that tell of it. */
export interface Standing {
  readonly submitted_by: number;
  readonly mod?: Pick<ModStanding, 'id' | 'game_id' | 'status' | 'visible'>;
}

/** The errors by which the API tells the teams of games and mods apart. */
export const REFUSALS = {
  games: {
    add: 'GAME_NO_UPDATE_PERMISSION',
    remove: 'GAME_NO_UPDATE_PERMISSION',
    member: 'GAME_TEAM_ALREADY_HAS_USER',
    invited: 'GAME_USER_ALREADY_INVITED',
    limit: 'GAME_INVITE_LIMIT_REACHED',
  },
  mods: {
    add: 'MOD_TEAM_NO_ADD_PERMISSION',
    remove: 'MOD_TEAM_NO_DELETE_PERMISSION',
    member: 'MOD_TEAM_ALREADY_HAS_USER',
    invited: 'MOD_USER_ALREADY_INVITED',
    limit: 'MOD_INVITE_LIMIT_REACHED',
  },
} as const satisfies Record<TeamResource, Record<string, ErrorName>>;

/** Refuses those who may not see the game or the mod. */
export async function requirePlace(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  { resource, gameId, id }: Place,
): Promise<Standing> {
  if (resource === 'games') return { submitted_by: (await requireGame(reader, caller, gameId)).submitted_by };
  const mod = await requireMod(reader, caller, gameId, id);
  return { submitted_by: mod.submitted_by, mod };
}

/** The next leader is named as the submitter. */
export async function handOver(app: App, transaction: Transaction, place: Place, userId: number): Promise<void> {
  if (place.resource === 'games') return handOverGame(transaction, place.id, userId);
  await handOverMod(app, transaction, { id: place.id, game_id: place.gameId }, userId);
}

/** Someone came or went. */
export async function recordMembership(
  app: App,
  transaction: Transaction,
  { resource, id, gameId }: Place,
  userId: number,
  type: 'USER_TEAM_JOIN' | 'USER_TEAM_LEAVE',
): Promise<void> {
  if (resource === 'mods') await recordUserEvent(app, transaction, { gameId, modId: id, userId, type });
}

/** Tells everyone that the team is another; as with every event of a mod, this comes last. */
export async function teamChanged(
  app: App,
  transaction: Transaction,
  place: Place,
  { mod }: Pick<Standing, 'mod'>,
  userId: number,
): Promise<void> {
  announceTeam(transaction, place);
  if (!mod) return;
  const event = { gameId: mod.game_id, modId: mod.id, userId, isPublic: isPublic(mod) };
  await recordModEvent(app, transaction, { ...event, type: 'MOD_TEAM_CHANGED' });
}

export function announceTeam(transaction: Transaction, { resource, id, gameId }: Place): void {
  accessChanged(transaction);
  if (resource === 'games') announceGame(transaction, id);
  else announceMod(transaction, gameId, id);
}
