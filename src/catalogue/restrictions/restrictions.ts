import { staffLevelOf } from '../../people/staff/staff.ts';
import { requireUserIn } from '../../people/users/users.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import { requireGame } from '../games/games.ts';
import { MODERATOR, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

export type { RestrictionRow } from './store.ts';

type Reader = Pick<Database, 'first'>;

/** All bits of `options`. */
const ADD_MODS = 1;
const ADD_GUIDES = 2;
const ADD_COMMENTS = 4;
const RATE = 8;
const REPORT = 16;
export const OPTIONS_ALL = ADD_MODS | ADD_GUIDES | ADD_COMMENTS | RATE | REPORT;

/** The columns that lists of restrictions can be filtered and sorted by. */
export const restrictionListing: Listing = {
  from: 'r',
  columns: {
    id: { kind: 'integer' },
    user_id: { kind: 'integer' },
    restricted_by: { kind: 'integer' },
    date_added: { kind: 'integer' },
    username: { kind: 'text', sql: 'lower(u.username)' },
  },
  sorts: { id: 'r.id', user_id: 'r.user_id', date_added: 'r.date_added' },
};

/** Refuses users whom the game's team has restricted from adding mods. */
export async function requireMayAddMods(reader: Reader, caller: Caller, gameId: number): Promise<void> {
  const options = caller.kind === 'user' ? await store.optionsOf(reader, gameId, caller.userId) : 0;
  if ((options & ADD_MODS) !== 0) throw new ApiError('MOD_NO_UPLOAD_PERMISSION_BY_ADMIN');
}

export async function isRestrictedFromGuides(reader: Reader, caller: Caller, gameId: number): Promise<boolean> {
  const options = caller.kind === 'user' ? await store.optionsOf(reader, gameId, caller.userId) : 0;
  return (options & ADD_GUIDES) !== 0;
}

/** Refuses users whom the game's team has restricted from reporting. */
export async function requireMayReport(reader: Reader, caller: Caller, gameId: number): Promise<void> {
  const options = caller.kind === 'user' ? await store.optionsOf(reader, gameId, caller.userId) : 0;
  if ((options & REPORT) !== 0) throw new ApiError('REPORT_NO_REPORT_PERMISSION_BY_ADMIN');
}

/** Refuses users whom the game's team has restricted from rating. */
export async function requireMayRate(reader: Reader, caller: Caller, gameId: number): Promise<void> {
  const options = caller.kind === 'user' ? await store.optionsOf(reader, gameId, caller.userId) : 0;
  if ((options & RATE) !== 0)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'rating', rule: 'kept_from_rating' }] });
}

/** Who keeps someone from commenting: the game's team or site staff. */
export type CommentKeeper = 'team' | 'operator';

/** Who has restricted the caller from commenting in a game. */
export async function commentRestriction(
  reader: Reader,
  caller: Caller,
  gameId: number,
): Promise<CommentKeeper | undefined> {
  if (caller.kind !== 'user') return undefined;
  const { options, by_operator } = await store.restrictionBy(reader, gameId, caller.userId);
  if ((options & ADD_COMMENTS) === 0) return undefined;
  return by_operator === 1 ? 'operator' : 'team';
}

async function requireModerator(reader: Reader, caller: Caller, gameId: number): Promise<void> {
  await requireGame(reader, caller, gameId);
  if ((await teamLevel(reader, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
}

export async function listRestrictions(app: App, caller: Caller, gameId: number, request: ListRequest) {
  await requireModerator(app.db, caller, gameId);
  return store.list(app.db.query, gameId, restrictionListing, request);
}

/** Moderators of the game restrict other users, but not themselves or members of the game's team. */
export async function restrict(
  app: App,
  caller: UserCaller,
  gameId: number,
  userId: number,
  { options, reason }: { options: number; reason: string },
): Promise<store.RestrictionRow> {
  return app.db.write(async (transaction) => {
    await requireModerator(transaction, caller, gameId);
    const person = await requireUserIn(transaction, userId);
    if (person.id === caller.userId) throw new ApiError('USER_ADMIN_CANT_MODERATE_SELF');
    const target = { ...caller, userId, admin: false, staff: await staffLevelOf(transaction, userId), inTeams: true };
    if ((await teamLevel(transaction, target, 'games', gameId)) > 0)
      throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
    const row = { game_id: gameId, user_id: userId, options, reason, restricted_by: caller.userId };
    await store.put(transaction.query, { ...row, date_added: app.clock.now() });
    const data = { user_id: userId, options, reason, restricted_by: caller.userId };
    await recordStudioEvent(app, transaction, { gameId, kind: 'USER_RESTRICTED', subject: `users/${userId}`, data });
    await audit(app, transaction, {
      ...audited(caller, gameId, userId),
      action: 'users.restrict',
      reason,
      data: { options },
    });
    return (await store.restriction(transaction.query, gameId, userId))!;
  });
}

export async function lift(app: App, caller: UserCaller, gameId: number, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    await requireModerator(transaction, caller, gameId);
    if ((await store.optionsOf(transaction, gameId, userId)) === 0) return;
    await store.remove(transaction.query, gameId, userId);
    const event = { gameId, kind: 'USER_RESTRICTION_LIFTED', subject: `users/${userId}` } as const;
    await recordStudioEvent(app, transaction, { ...event, data: { user_id: userId } });
    await audit(app, transaction, { ...audited(caller, gameId, userId), action: 'users.lift-restriction' });
  });
}

const audited = (caller: UserCaller, gameId: number, userId: number) => ({
  actor: caller.userId,
  subject: { resource: 'users', id: userId, gameId },
});
