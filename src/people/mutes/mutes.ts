import type { UserCaller } from '../../platform/access/caller.ts';
import { visibilityChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { isStaffMember } from '../staff/staff.ts';
import { isGuest, requireUserIn } from '../users/users.ts';
import * as store from './store.ts';

/** The columns that the list of muted users can be filtered and sorted by. */
export const mutedListing: Listing = {
  from: 'u',
  columns: { id: { kind: 'integer' }, name_id: { kind: 'text' }, date_online: { kind: 'integer' } },
  sorts: { id: 'u.id', name_id: 'u.name_id', date_online: 'u.date_online' },
};

/** Hides the content of the other user from the caller. Muting twice has no effect. */
export async function muteUser(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const other = await requireUserIn(transaction, userId);
    if (other.id === caller.userId) throw new ApiError('USER_CANNOT_MUTE_SELF');
    if (await isGuest(transaction, await requireUserIn(transaction, caller.userId)))
      throw new ApiError('USER_CANNOT_MUTE_AS_GUEST');
    if (await isGuest(transaction, other)) throw new ApiError('USER_CANNOT_MUTE_GUESTS');
    if (await isStaffMember(transaction, other.id)) throw new ApiError('USER_CANNOT_MUTE_SITE_ADMIN');
    await store.put(transaction, { user_id: caller.userId, muted_id: other.id, date_added: app.clock.now() });
    visibilityChanged(transaction, caller.userId);
  });
}

/**
 * Mutes the users whom the caller has blocked on a portal, and unmutes nobody. Portals require games to respect these
 * lists, so guests can import theirs and can be muted by them.
 */
export async function muteFromPortal(
  app: App,
  caller: UserCaller,
  portal: Portal | undefined,
  ids: readonly string[],
): Promise<void> {
  await app.db.write(async (transaction) => {
    if (portal === undefined) throw new ApiError('USER_MUTE_LIST_SYNC_FAILED');
    if (!(await store.isLinked(transaction, caller.userId, portal))) throw new ApiError('USER_CONNECTION_REQUIRED');
    const people = await store.peopleOn(transaction.query, portal, caller.gameId ?? 0, ids);
    const date_added = app.clock.now();
    for (const muted_id of people.filter((id) => id !== caller.userId))
      await store.put(transaction, { user_id: caller.userId, muted_id, date_added });
    visibilityChanged(transaction, caller.userId);
  });
}

export async function unmuteUser(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireUserIn(transaction, userId);
    await store.remove(transaction, caller.userId, userId);
    visibilityChanged(transaction, caller.userId);
  });
}

export const mutedBy = (app: App, caller: UserCaller, request: ListRequest) =>
  store.listMuted(app.db.query, caller.userId, mutedListing, request);
