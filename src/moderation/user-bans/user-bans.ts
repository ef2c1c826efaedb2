import { isStaffMember } from '../../people/staff/staff.ts';
import { removeBan } from '../../people/users/bans.ts';
import { lockUserRow, putUserStatus, USER_ACTIVE, USER_BANNED, USER_DELETED } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';

/**
 * Site administrators cannot ban themselves or each other. A ban outlives the account’s deletion and can be lifted
 * afterwards, so that its former user can sign up again.
 */
export async function setBan(
  app: App,
  caller: UserCaller,
  userId: number,
  { banned, reason }: { banned: boolean; reason: string },
): Promise<void> {
  if (!caller.admin) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  if (caller.userId === userId) throw new ApiError('USER_ADMIN_CANT_MODERATE_SELF');
  await app.db.write(async (transaction) => {
    const person = await lockUserRow(transaction, userId);
    const isGone = person?.status === USER_DELETED;
    if (!person || (isGone && (banned || !(await removeBan(transaction, userId)))))
      throw new ApiError('USER_NOT_FOUND');
    if (await isStaffMember(transaction, userId)) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
    if (!isGone && (person.status === USER_BANNED) === banned) throw new ApiError('MODERATION_ALREADY_ACTIONED');
    if (!isGone) await putUserStatus(transaction, userId, banned ? USER_BANNED : USER_ACTIVE);
    const subject = { resource: 'users', id: userId, gameId: 0 };
    const action = banned ? 'users.ban' : 'users.unban';
    await audit(app, transaction, { actor: caller.userId, action, subject, reason });
  });
}
