import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Column, Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export type ListedAudit = Awaited<ReturnType<typeof store.list>>['rows'][number];

const integer: Column = { kind: 'integer' };

/** The columns that the log can be filtered and sorted by. */
export const auditListing: Listing = {
  from: 'a',
  columns: {
    id: { kind: 'integer', sql: 'a.id' },
    date_added: integer,
    game_id: integer,
    user_id: integer,
    action: { kind: 'text', sql: 'a.action' },
    resource: { kind: 'text', sql: 'a.resource' },
    resource_id: integer,
  },
  sorts: { id: 'a.id', date_added: 'a.date_added', user_id: 'a.user_id', action: 'a.action' },
};

export async function listAudit(app: App, caller: UserCaller, request: ListRequest) {
  if (!caller.admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.list(app.db.query, undefined, auditListing, request);
}

export async function listAuditOfGame(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return store.list(app.db.query, gameId, auditListing, request);
}
