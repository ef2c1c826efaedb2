import type { Caller } from '../../platform/access/caller.ts';
import { STAFF_LEVELS, staffLevel } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './accounts-store.ts';

export type { AccountRow } from './accounts-store.ts';

/** The columns by which the staff find accounts. */
export const accountListing: Listing = {
  from: 'u',
  columns: {
    id: { kind: 'integer', sql: 'u.id' },
    status: { kind: 'integer', sql: 'u.status' },
    username: { kind: 'text', sql: 'u.username_folded' },
    name_id: { kind: 'text', sql: 'u.name_id' },
    email: { kind: 'text', sql: 'u.email' },
    date_joined: { kind: 'integer', sql: 'u.date_joined' },
    date_locked: { kind: 'integer', sql: 'u.date_locked' },
  },
  sorts: { id: 'u.id', date_joined: 'u.date_joined' },
};

/** Accounts with their private fields, for administrators of the site. */
export async function listAccounts(app: App, caller: Caller, request: ListRequest) {
  if (staffLevel(caller) < STAFF_LEVELS.administrator) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.listAccounts(app.db.query, accountListing, request);
}
