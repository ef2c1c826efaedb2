import type { UserCaller } from '../../platform/access/caller.ts';
import { visibilityChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { mutedListing } from '../mutes/mutes.ts';
import { isStaffMember } from '../staff/staff.ts';
import { requireUserIn } from '../users/users.ts';
import { blockExtensions } from './extensions.ts';
import * as store from './store.ts';

/** The columns that the list of blocked users can be filtered and sorted by. */
export const blockedListing = mutedListing;

/** Refuses where one has blocked the other. The pair stays locked until the transaction ends. */
export async function requireNotBlocked(transaction: Transaction, one: number, other: number): Promise<void> {
  const [, isBlocked] = await answersTo([
    store.lockPair(transaction, one, other),
    store.isBlockedBetween(transaction, one, other),
  ]);
  if (isBlocked) throw new ApiError('USER_IS_BLOCKED');
}

/**
 * Keeps the other user from contacting the caller, and mutes them. Blocking twice has no effect; blocking oneself is
 * refused in the same way as muting oneself.
 */
export async function blockUser(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const other = await requireUserIn(transaction, userId);
    if (other.id === caller.userId) throw new ApiError('USER_CANNOT_MUTE_SELF');
    if (await isStaffMember(transaction, other.id)) throw new ApiError('USER_CANNOT_BLOCK_SITE_ADMIN');
    await store.lockPair(transaction, caller.userId, other.id);
    await store.put(transaction, { user_id: caller.userId, blocked_id: other.id, date_added: app.clock.now() });
    for (const { onBlock } of app.extensions.of(blockExtensions)) await onBlock(transaction, caller.userId, other.id);
    visibilityChanged(transaction, caller.userId);
  });
}

/** A separate mute stays. */
export async function unblockUser(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireUserIn(transaction, userId);
    await store.remove(transaction, caller.userId, userId);
    visibilityChanged(transaction, caller.userId);
  });
}

export const blockedBy = (app: App, caller: UserCaller, request: ListRequest) =>
  store.listBlocked(app.db.query, caller.userId, blockedListing, request);
