import { muterOf, type UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { requireNotBlocked } from '../blocks/blocks.ts';
import { mutedListing } from '../mutes/mutes.ts';
import { notify } from '../notifications/notifications.ts';
import { findUserIn, requireUser, USER_BANNED, USER_DELETED } from '../users/users.ts';
import * as store from './store.ts';

export type { Side } from './store.ts';

/** The columns that lists of users can be filtered and sorted by. */
export const followListing = mutedListing;

/** The path names the follower, who has to be the caller. */
function requireSelf(caller: UserCaller, userId: number): void {
  if (caller.userId !== userId) throw new ApiError('USER_NO_VIEW_PERMISSION');
}

export async function followUser(app: App, caller: UserCaller, userId: number, targetId: number): Promise<void> {
  requireSelf(caller, userId);
  await app.db.write(async (transaction) => {
    const target = await findUserIn(transaction, targetId);
    if (!target) throw new ApiError('USER_NOT_FOUND');
    if (target.status === USER_BANNED) throw new ApiError('USER_FOLLOW_TARGET_BANNED');
    if (target.status === USER_DELETED) throw new ApiError('USER_FOLLOW_TARGET_DELETED');
    if (target.id === userId)
      throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'user_id', rule: 'someone_else' }] });
    await requireNotBlocked(transaction, userId, target.id);
    const row = { user_id: userId, followed_id: target.id, date_added: app.clock.now() };
    if (!(await store.put(transaction, row))) throw new ApiError('USER_ALREADY_FOLLOWED');
    const follower = { actorId: userId, resource: 'users', resourceId: userId } as const;
    await notify(app, transaction, { userId: target.id, kind: 'follower', ...follower });
  });
}

export async function unfollowUser(app: App, caller: UserCaller, userId: number, targetId: number): Promise<void> {
  requireSelf(caller, userId);
  await app.db.write(async (transaction) => {
    // The API uses the error of subscriptions here, with status 403 instead of 400.
    if (!(await store.remove(transaction, userId, targetId)))
      throw new ApiError('UNSUBSCRIBE_NOT_SUBSCRIBED', { status: 403 });
  });
}

/** Ends follows between two users in both directions. */
export async function endFollowsBetween(transaction: Transaction, one: number, other: number): Promise<void> {
  await store.remove(transaction, one, other);
  await store.remove(transaction, other, one);
}

/** The caller's own list includes muted users, so that they can be unfollowed. */
export async function listFollows(
  app: App,
  caller: UserCaller,
  side: store.Side,
  userId: number,
  request: ListRequest,
) {
  await requireUser(app, userId);
  const isOwnChoice = side === 'following' && userId === caller.userId;
  const whose = { side, userId, muterId: isOwnChoice ? undefined : muterOf(caller) };
  return store.list(app.db.query, whose, followListing, request);
}
