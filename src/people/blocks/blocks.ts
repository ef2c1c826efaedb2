import type { UserCaller } from '../../platform/access/caller.ts';
import { sightOfChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { endFollowsBetween } from '../follows/pieces.ts';
import { mutedListing } from '../mutes/mutes.ts';
import { isStaffMember } from '../staff/pieces.ts';
import { requireUserIn } from '../users/users.ts';
import * as store from './store.ts';

/** What the list of blocked people may be filtered and sorted by. */
export const blockedListing = mutedListing;

/** Whether the first has blocked the second. */
export const isBlocked = (reader: Pick<Database, 'first'>, byUserId: number, userId: number): Promise<boolean> =>
  store.isBlocked(reader, byUserId, userId);

/** Neither has blocked the other, and neither does before the transaction has ended. */
export async function requireNotBlocked(transaction: Transaction, one: number, other: number): Promise<void> {
  await store.holdPair(transaction, one, other);
  if ((await store.isBlocked(transaction, one, other)) || (await store.isBlocked(transaction, other, one)))
    throw new ApiError('USER_IS_BLOCKED');
}

/**
 * From now on the other reaches the caller in no way, and is muted as well. Neither follows the other any more. To block
 * someone twice changes nothing, and neither does blocking oneself, which is refused as muting oneself is.
 */
export async function blockUser(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const other = await requireUserIn(transaction, userId);
    if (other.id === caller.userId) throw new ApiError('USER_CANNOT_MUTE_SELF');
    if (await isStaffMember(transaction, other.id)) throw new ApiError('USER_CANNOT_BLOCK_SITE_ADMIN');
    await store.holdPair(transaction, caller.userId, other.id);
    await store.put(transaction, { user_id: caller.userId, blocked_id: other.id, date_added: app.clock.now() });
    await endFollowsBetween(transaction, caller.userId, other.id);
    sightOfChanged(transaction, caller.userId);
  });
}

/** Who was muted besides stays so. */
export async function unblockUser(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireUserIn(transaction, userId);
    await store.remove(transaction, caller.userId, userId);
    sightOfChanged(transaction, caller.userId);
  });
}

export const blockedBy = (app: App, caller: UserCaller, request: ListRequest) =>
  store.listBlocked(app.db.query, caller.userId, blockedListing, request);
