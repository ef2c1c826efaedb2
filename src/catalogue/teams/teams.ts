import { ranksIn } from '../../platform/access/admission.ts';
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

/** Counts a person in the team of a game or mod. What they may see changes with it. */
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
 * The caller's level in a team; 0 outside of it, and in a game also for tokens by which the person has no seat there. Who administers the site counts as an administrator everywhere, and
 * the rest of its staff as moderators of every game.
 * A transaction as reader makes sure that nobody leaves the team between the question and the change.
 */
export async function teamLevel(
  reader: Pick<Database, 'first'>,
  caller: Caller,
  resource: TeamResource,
  resourceId: number,
): Promise<number> {
  if (caller.kind !== 'user' || (resource === 'games' && !ranksIn(caller, resourceId))) return 0;
  if (caller.admin) return ADMINISTRATOR;
  const own = caller.inTeams ? await store.levelOf(reader, resource, resourceId, caller.userId) : 0;
  return resource === 'games' && isSiteStaff(caller) ? Math.max(own, MODERATOR) : own;
}

/** What the team belonged to is gone for ever, and so are the invitations to it. */
export async function dissolveTeam(
  transaction: Transaction,
  resource: TeamResource,
  resourceId: number,
): Promise<void> {
  await store.removeTeam(transaction.query, resource, resourceId);
  accessChanged(transaction);
}
