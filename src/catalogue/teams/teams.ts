import { teamRoleCounts } from '../../platform/access/admission.ts';
import type { Caller } from '../../platform/access/caller.ts';
import { accessChanged } from '../../platform/access/credentials.ts';
import { isSiteStaff } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export type TeamResource = 'games' | 'mods';

export const MODERATOR = 1;
export const MANAGER = 4;
export const ADMINISTRATOR = 8;

/** Adds a user to the team of a game or mod, which changes what they may see. */
export async function joinTeam(
  app: App,
  transaction: Transaction,
  member: { resource: TeamResource; resourceId: number; userId: number; level: number; position: string },
): Promise<void> {
  await store.add(transaction.query, {
    resource: member.resource,
    resource_id: member.resourceId,
    user_id: member.userId,
    level: member.level,
    position: member.position,
    date_added: app.clock.now(),
  });
  accessChanged(transaction);
}

/**
 * The caller's level in a team; 0 outside of it, and for tokens that grant no membership in the game. Site
 * administrators count as administrators everywhere, other site staff as moderators of every game.
 */
export async function teamLevel(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  resource: TeamResource,
  resourceId: number,
): Promise<number> {
  if (caller.kind !== 'user' || (resource === 'games' && !teamRoleCounts(caller, resourceId))) return 0;
  if (caller.admin) return ADMINISTRATOR;
  const own = caller.inTeams ? await store.levelOf(reader, resource, resourceId, caller.userId) : 0;
  return resource === 'games' && isSiteStaff(caller) ? Math.max(own, MODERATOR) : own;
}

/** Removes the members and invitations of a game or mod that was deleted for good. */
export async function removeTeamOf(
  transaction: Transaction,
  resource: TeamResource,
  resourceId: number,
): Promise<void> {
  await store.removeTeam(transaction.query, resource, resourceId);
  accessChanged(transaction);
}
