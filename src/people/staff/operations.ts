import { z } from 'zod';
import { anyone, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, page, pageOf, Timestamp, UserPath } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { type AccountRow, accountListing, listAccounts } from './accounts.ts';
import { addFirstOwner, hasStaff } from './first-owner.ts';
import { addStaff, changeStaff, listStaff, removeStaff, type StaffRow, staffListing } from './staff.ts';

const level = z.literal([1, 4, 8]).meta({ description: '1 moderator, 4 administrator, 8 owner' });

export const StaffMemberObject = z
  .object({
    user: UserObject,
    level: Integer.meta({ description: '1 moderator, 4 administrator, 8 owner' }),
    added_by: Integer.meta({ description: 'The user who added them; 0 for the operator' }),
    date_added: Timestamp,
  })
  .meta({ id: 'StaffMember' });

const toStaffMember = (app: App, row: StaffRow, portal: Portal | undefined): z.input<typeof StaffMemberObject> => ({
  user: toUserObject(app, row, portal),
  level: row.level,
  added_by: row.added_by,
  date_added: row.date_added,
});

const RULES = ['USER_NOT_FOUND', 'USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL'] as const;

export const getStaff = operation({
  id: 'get-staff',
  tag: 'Staff',
  method: 'GET',
  path: '/staff',
  says: 'Lists the site staff. For its members.',
  access: user('read', 'staff'),
  list: staffListing,
  returns: ok(pageOf(StaffMemberObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list, portal }) => {
    const { rows, total } = await listStaff(app, caller, list);
    return page(
      rows.map((row) => toStaffMember(app, row, portal)),
      total,
      list,
    );
  },
});

export const addStaffMember = operation({
  id: 'add-staff-member',
  tag: 'Staff',
  method: 'POST',
  path: '/staff',
  says: 'Adds a user to the site staff. Moderators act in every game as a moderator of its team; administrators also decide about users, games and the site; owners about all staff. Administrators add members below their level, and owners any.',
  access: user('write', 'staff'),
  under: ['users'],
  names: { users: ({ body }) => [body.user_id] },
  body: z.object({ user_id: Id, level }),
  returns: created(StaffMemberObject),
  errors: [...RULES, 'USER_CANT_ADD_SITE_STAFF', 'USER_ALREADY_SITE_STAFF', 'USER_NOT_CONFIRMED'],
  handle: async (app, { caller, body, portal }) => {
    const row = await addStaff(app, caller, { userId: body.user_id, level: body.level });
    return new Created(toStaffMember(app, row, portal), `${app.addresses.api}/staff`);
  },
});

export const updateStaffMember = operation({
  id: 'update-staff-member',
  tag: 'Staff',
  method: 'PUT',
  path: '/staff/{user_id}',
  says: 'Changes the level of a member of the site staff. Administrators change members below them, owners everyone; one owner has to stay.',
  access: user('write', 'staff'),
  ends: ['users'],
  params: UserPath,
  body: z.object({ level }),
  returns: ok(StaffMemberObject),
  errors: [...RULES, 'USER_CANT_UPDATE_SITE_STAFF'],
  handle: async (app, { caller, params, body, portal }) =>
    toStaffMember(app, await changeStaff(app, caller, { userId: params.user_id, level: body.level }), portal),
});

export const deleteStaffMember = operation({
  id: 'delete-staff-member',
  tag: 'Staff',
  method: 'DELETE',
  path: '/staff/{user_id}',
  says: 'Removes a member of the site staff. Administrators remove members below them, owners everyone, and every member may leave; one owner has to stay.',
  access: user('write', 'staff'),
  ends: ['users'],
  params: UserPath,
  returns: noContent,
  errors: [...RULES, 'USER_CANT_DELETE_SITE_STAFF'],
  handle: (app, { caller, params }) => removeStaff(app, caller, params.user_id),
});

const AccountSummaryObject = z
  .object({
    user: UserObject,
    email: z.string().nullable(),
    status: Integer.meta({ description: '0 not confirmed, 1 active, 4 banned' }),
    staff_level: Integer.meta({ description: '0 for users outside the site staff' }),
    date_locked: Timestamp.meta({ description: 'Since when sign-in is locked; 0 if it is not' }),
    date_closed: Timestamp.meta({ description: 'Since when the account is closed; 0 if it is not' }),
  })
  .meta({ id: 'AccountSummary' });

const toAccountSummary = (
  app: App,
  { email, status, staff_level, date_locked, date_closed, ...row }: AccountRow,
  portal: Portal | undefined,
): z.input<typeof AccountSummaryObject> => ({
  user: toUserObject(app, row, portal),
  email,
  status,
  staff_level: Number(staff_level),
  date_locked: date_locked ?? 0,
  date_closed: date_closed ?? 0,
});

export const getAccounts = operation({
  id: 'get-accounts',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/users',
  says: 'Lists the accounts of the site with their email addresses and states. For administrators of the site.',
  access: user('read', 'staff'),
  list: accountListing,
  returns: ok(pageOf(AccountSummaryObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list, portal }) => {
    const { rows, total } = await listAccounts(app, caller, list);
    return page(
      rows.map((row) => toAccountSummary(app, row, portal)),
      total,
      list,
    );
  },
});

export const setUpSite = operation({
  id: 'set-up-site',
  tag: 'Staff',
  method: 'POST',
  path: '/staff/first',
  says: 'Adds the first owner of the site, with the code of the link that the service prints at its start. Refused once the site has staff.',
  access: anyone(),
  limit: 10,
  unlocked: 'takes a lock of its own against a second first owner',
  body: z.object({
    code: z.string().min(1).max(100),
    email: z.string().trim().max(254).pipe(z.email()),
    username: z.string().trim().min(1).max(80),
  }),
  returns: noContent,
  errors: ['USER_CANT_ADD_SITE_STAFF'],
  handle: (app, { body }) => addFirstOwner(app, body),
});

export const getSetup = operation({
  id: 'get-site-setup',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/first',
  says: 'Tells whether the site still waits for its first owner.',
  access: anyone(),
  returns: ok(z.object({ is_needed: z.boolean() }).meta({ id: 'Setup' })),
  errors: [],
  handle: async (app) => ({ is_needed: !(await hasStaff(app)) }),
});

export const staffOperations = [
  setUpSite,
  getSetup,
  getStaff,
  getAccounts,
  addStaffMember,
  updateStaffMember,
  deleteStaffMember,
];
