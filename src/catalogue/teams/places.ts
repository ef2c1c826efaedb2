import type { Caller } from '../../platform/access/caller.ts';
import { accessChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ErrorName } from '../../platform/errors/catalogue.ts';
import { type Place, type Standing, type TeamOwner, teamOwners } from './extensions.ts';
import type { TeamResource } from './teams.ts';

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

/** The API has separate errors for the teams of games and of mods. */
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

function ownerOf(app: App, { resource }: Pick<Place, 'resource'>): TeamOwner {
  const owner = app.extensions.of(teamOwners).find((each) => each.resource === resource);
  if (!owner) throw new Error(`no resource contributes teams of ${resource}`);
  return owner;
}

/** Refuses callers who may not see the game or mod. */
export const requirePlace = (
  app: App,
  reader: Pick<Database, 'first'>,
  caller: Caller,
  place: Place,
): Promise<Standing> => ownerOf(app, place).require(reader, caller, place);

/** The next leader becomes the submitter. */
export const transferOwnership = (app: App, transaction: Transaction, place: Place, userId: number): Promise<void> =>
  ownerOf(app, place).transferOwnership(app, transaction, place, userId);

/** Whether the list of members may be cached for the visibility class of the caller. */
export const isVisibleToClass = async (app: App, caller: Caller, place: Place): Promise<boolean> =>
  (await ownerOf(app, place).isVisibleToClass?.(app.db, caller, place)) ?? true;

export const recordMembership = async (
  app: App,
  transaction: Transaction,
  place: Place,
  userId: number,
  type: 'USER_TEAM_JOIN' | 'USER_TEAM_LEAVE',
): Promise<void> => ownerOf(app, place).recordMembership?.(app, transaction, place, userId, type);

/** Records that the team changed. Call it last, as every function that records an event. */
export async function teamChanged(app: App, transaction: Transaction, place: Place, userId: number): Promise<void> {
  invalidateTeam(app, transaction, place);
  await ownerOf(app, place).recordTeamChange?.(app, transaction, place, userId);
}

export function invalidateTeam(app: App, transaction: Transaction, place: Place): void {
  accessChanged(transaction);
  ownerOf(app, place).invalidate(transaction, place);
}
