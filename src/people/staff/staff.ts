import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { accessOfUserChanged } from '../../platform/access/credentials.ts';
import { isSiteStaff, outranks, STAFF_LEVELS } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { addUser, isGuest, type NewUser, requireUserForChange, USER_ACTIVE, type UserRow } from '../users/users.ts';
import * as store from './store.ts';

export type { StaffRow } from './store.ts';

/** Adds a user to the site staff; false where they are a member already. It takes effect on every process at once. */
export async function joinStaff(
  transaction: Transaction,
  { userId, level, addedBy, now }: { userId: number; level: number; addedBy: number; now: number },
): Promise<boolean> {
  const row = { user_id: userId, level, added_by: addedBy, date_added: now };
  if (!(await store.add(transaction, row))) return false;
  accessOfUserChanged(transaction, userId);
  return true;
}

/** Adds a user who owns the site. */
export async function addOwner(app: App, transaction: Transaction, user: Omit<NewUser, 'isStaff'>) {
  const owner = await addUser(app, transaction, { ...user, isStaff: true });
  await joinStaff(transaction, { userId: owner.id, level: STAFF_LEVELS.owner, addedBy: 0, now: app.clock.now() });
  return owner;
}

/** The level of any user; 0 for users outside the site staff. */
export const staffLevelOf = (reader: Pick<Database, 'first'>, userId: number): Promise<number> =>
  store.levelOf(reader, userId);

export const isStaffMember = async (reader: Pick<Database, 'first'>, userId: number): Promise<boolean> =>
  (await store.levelOf(reader, userId)) > 0;

/** The columns that the list can be filtered and sorted by. */
export const staffListing: Listing = {
  from: 'u',
  columns: {
    user_id: { kind: 'integer', sql: 's.user_id' },
    level: { kind: 'integer', sql: 's.level' },
    date_added: { kind: 'integer', sql: 's.date_added' },
  },
  sorts: { id: 'u.id', user_id: 's.user_id', level: 's.level', date_added: 's.date_added' },
};

export async function listStaff(app: App, caller: Caller, request: ListRequest) {
  if (!isSiteStaff(caller)) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.list(app.db.query, staffListing, request);
}

/** For commands of the operator. */
export const allStaff = (app: App) => store.all(app.db.query);

/**
 * The caller's current level; levels below administrator are refused. The owners are locked, so that
 * two owners who leave at the same time cannot both succeed.
 */
async function requireDeciding(transaction: Transaction, caller: UserCaller, refused: ErrorName): Promise<number> {
  await store.lockFrom(transaction, STAFF_LEVELS.owner);
  if (caller.userId === 0) return STAFF_LEVELS.owner;
  const own = await store.levelOf(transaction, caller.userId);
  if (own < STAFF_LEVELS.administrator) throw new ApiError(refused);
  return own;
}

/** Staff assign and change levels below their own only, except owners. */
function requireBelow(own: number, ...levels: number[]): void {
  if (!levels.every((level) => outranks(own, level))) throw new ApiError('USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL');
}

/** The site must keep an owner. */
async function requireOwnerLeft(transaction: Transaction, userId: number, refused: ErrorName): Promise<void> {
  const owners = await store.lockFrom(transaction, STAFF_LEVELS.owner);
  if (owners.length === 1 && owners[0] === userId) throw new ApiError(refused);
}

export async function addStaff(
  app: App,
  caller: UserCaller,
  { userId, level }: { userId: number; level: number },
): Promise<store.StaffRow> {
  return app.db.write(async (transaction) => {
    const own = await requireDeciding(transaction, caller, 'USER_CANT_ADD_SITE_STAFF');
    requireBelow(own, level);
    const user = await requireUserForChange(transaction, userId);
    if (await isGuest(transaction, user)) throw new ApiError('USER_NOT_CONFIRMED');
    requireInGoodStanding(user);
    const added = await joinStaff(transaction, { userId, level, addedBy: caller.userId, now: app.clock.now() });
    if (!added) throw new ApiError('USER_ALREADY_SITE_STAFF');
    await auditStaff(app, transaction, caller, userId, 'add', [0, level]);
    return (await store.member(transaction.query, userId))!;
  });
}

function requireInGoodStanding({ status, date_closed, date_locked }: UserRow): void {
  if (status !== USER_ACTIVE || date_closed !== null || date_locked !== null)
    throw new ApiError('USER_CANT_ADD_SITE_STAFF');
}

export async function changeStaff(
  app: App,
  caller: UserCaller,
  { userId, level }: { userId: number; level: number },
): Promise<store.StaffRow> {
  return app.db.write(async (transaction) => {
    const own = await requireDeciding(transaction, caller, 'USER_CANT_UPDATE_SITE_STAFF');
    const before = await requireMember(transaction, userId);
    requireBelow(own, before, level);
    if (level < before) await requireOwnerLeft(transaction, userId, 'USER_CANT_UPDATE_SITE_STAFF');
    await store.setLevel(transaction, userId, level);
    accessOfUserChanged(transaction, userId);
    await auditStaff(app, transaction, caller, userId, 'change', [before, level]);
    return (await store.member(transaction.query, userId))!;
  });
}

/** Every member may leave, except the last owner. */
export async function removeStaff(app: App, caller: UserCaller, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const isLeaving = caller.userId === userId && isSiteStaff(caller);
    const own = isLeaving ? 0 : await requireDeciding(transaction, caller, 'USER_CANT_DELETE_SITE_STAFF');
    const before = await requireMember(transaction, userId);
    if (!isLeaving) requireBelow(own, before);
    await requireOwnerLeft(transaction, userId, 'USER_CANT_DELETE_SITE_STAFF');
    await store.remove(transaction, userId);
    accessOfUserChanged(transaction, userId);
    await auditStaff(app, transaction, caller, userId, 'remove', [before, 0]);
  });
}

async function requireMember(transaction: Transaction, userId: number): Promise<number> {
  const level = await store.levelOf(transaction, userId);
  if (level === 0) throw new ApiError('RESOURCE_NOT_FOUND');
  return level;
}

const auditStaff = (
  app: App,
  transaction: Transaction,
  { userId: actor }: UserCaller,
  userId: number,
  done: 'add' | 'change' | 'remove',
  level: readonly [number, number],
) =>
  audit(app, transaction, {
    actor,
    action: `staff.${done}`,
    subject: { resource: 'users', id: userId, gameId: 0 },
    data: { level },
  });
