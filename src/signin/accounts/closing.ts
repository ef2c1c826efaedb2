import { isGuarded } from '../../files/releases/confirmation.ts';
import { isStaffMember, staffLevelOf } from '../../people/staff/staff.ts';
import { rememberBan } from '../../people/users/bans.ts';
import { signOut } from '../../people/users/signing-out.ts';
import {
  changeUser,
  findUserIn,
  lockUserRows,
  normalisedEmail,
  requireUserIn,
  USER_BANNED,
  USER_DELETED,
  type UserRow,
} from '../../people/users/users.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { revokeKeys } from '../../platform/access/credentials.ts';
import { outranks, staffLevel } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { reviewPicture } from '../../platform/images/pictures.ts';
import { type Audited, audit } from '../../records/audit/audit.ts';
import { identitiesOf } from '../portals/accounts.ts';
import { runEndingSteps } from './personal.ts';
import { nameOfDeleted, SETTLE_JOB } from './settling.ts';
import * as store from './store.ts';

/** A closed account is hidden from everyone else. Its owner can reopen or delete it. */
export async function closeAccount(app: App, caller: UserCaller): Promise<void> {
  await app.db.write(async (transaction) => {
    const user = await requireUserIn(transaction, caller.userId);
    if ((await isStaffMember(transaction, user.id)) || user.date_closed !== null)
      throw new ApiError('USER_CANNOT_CLOSE_ACCOUNT');
    await changeUser(transaction, user.id, { date_closed: app.clock.now() });
  });
}

export async function reopenAccount(app: App, caller: UserCaller): Promise<void> {
  await app.db.write((transaction) => changeUser(transaction, caller.userId, { date_closed: null }));
}

/**
 * Deletes a closed account that leads no game or mod. The owner confirms with the email address, or with the username
 * if there is none.
 */
export async function deleteAccount(app: App, caller: UserCaller, confirmation: string): Promise<void> {
  await app.db.write(async (transaction) => {
    await lockUserRows(transaction, { ends: [caller.userId] });
    const user = await requireUserIn(transaction, caller.userId);
    if (await isStaffMember(transaction, user.id)) throw new ApiError('USER_CANT_BE_DELETED_SITE_ADMIN');
    if (user.date_closed === null) throw new ApiError('USER_CANT_BE_DELETED_MUST_CLOSE_FIRST');
    await requireNothingLed(transaction, user.id);
    const isConfirmed =
      user.email === null ? confirmation === user.username : normalisedEmail(confirmation) === user.email;
    if (!isConfirmed) throw new ApiError('USER_CANT_BE_DELETED_INCORRECT_CONFIRMATION_EMAIL');
    // Without this check, a stolen token could bypass the release confirmation that the mailbox protects.
    if (await isGuarded(transaction, user.id)) throw new ApiError('USER_CANNOT_DELETE_ACCOUNT');
    if (await store.mergingInto(transaction.query, user.id)) throw new ApiError('USER_CANNOT_DELETE_ACCOUNT');
    await erase(app, transaction, user);
  });
}

async function requireNothingLed({ query }: Transaction, userId: number): Promise<void> {
  const { games, mods } = await store.leads(query, userId);
  if (games || mods) throw new ApiError('USER_CANT_BE_DELETED_EXISTING_TEAMS');
}

/** Contributions to shared content stay under a neutral name. A job erases the rest. */
async function erase(app: App, transaction: Transaction, user: UserRow): Promise<void> {
  if (user.status === USER_BANNED) await rememberBan(app, transaction, user.id, await identitiesOf(transaction, user));
  await endAccount(app, transaction, user);
  await changeUser(transaction, user.id, blankedUser(nameOfDeleted(user.id)));
  await app.jobs.enqueue(transaction, SETTLE_JOB, { userId: user.id });
}

/** Revokes all credentials of the account and runs the steps that cannot wait for the job. */
export async function endAccount(
  app: App,
  transaction: Transaction,
  user: UserRow,
  to?: Pick<UserRow, 'id' | 'email'>,
): Promise<void> {
  await signOut(app, transaction, user.id);
  await revokeKeys(app, transaction, { userId: user.id });
  if (user.avatar) await reviewPicture(app, transaction, user.avatar);
  await runEndingSteps(app, transaction, user, to);
}

/** A deleted account without personal data. */
export const blankedUser = (name: string) => ({
  status: USER_DELETED,
  email: null,
  username: name,
  name_id: name,
  avatar: null,
  timezone: '',
  country: '',
  language: 'en',
  birth_date: null,
  mature_content: 0,
  date_online: 0,
  portal_names: '{}',
});

/** Staff moderate other users, not themselves. */
function requireModerator(caller: Caller, userId: number): void {
  if (caller.kind !== 'user' || !caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  if (caller.userId === userId) throw new ApiError('USER_ADMIN_CANT_MODERATE_SELF');
}

async function requireModerated(transaction: Transaction, caller: Caller, userId: number): Promise<UserRow> {
  requireModerator(caller, userId);
  await lockUserRows(transaction, { ends: [userId] });
  const user = await requireUserIn(transaction, userId);
  if (!outranks(staffLevel(caller), await staffLevelOf(transaction, userId)))
    throw new ApiError('USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL');
  return user;
}

/**
 * Locking an account signs its user out everywhere and refuses new sign-ins until staff unlock it. Unlocking signs out
 * again, which also ends sign-ins that were in flight when the lock was set.
 */
export const lockUser = (app: App, caller: UserCaller, userId: number, isLocked: boolean): Promise<void> =>
  app.db.write(async (transaction) => {
    const user = await requireModerated(transaction, caller, userId);
    await signOut(app, transaction, user.id);
    await changeUser(transaction, user.id, { date_locked: isLocked ? app.clock.now() : null });
    await audit(app, transaction, audited(caller, user.id, isLocked ? 'users.lock' : 'users.unlock'));
  });

/** Deletes an account on behalf of staff, with the checks that protect other users. */
export const deleteUser = (app: App, caller: UserCaller, userId: number): Promise<void> =>
  app.db.write(async (transaction) => {
    requireModerator(caller, userId);
    await lockUserRows(transaction, { ends: [userId] });
    if ((await findUserIn(transaction, userId))?.status === USER_DELETED) throw new ApiError('USER_ALREADY_DELETED');
    const user = await requireUserIn(transaction, userId);
    if (await isStaffMember(transaction, user.id)) throw new ApiError('USER_CANT_BE_DELETED_SITE_ADMIN');
    await requireNothingLed(transaction, user.id);
    await erase(app, transaction, user);
    await audit(app, transaction, audited(caller, user.id, 'users.delete'));
  });

const audited = (caller: UserCaller, userId: number, action: string): Audited => ({
  actor: caller.userId,
  action,
  subject: { resource: 'users', id: userId, gameId: 0 },
});
