import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { changeTeam, checkSensitiveChange } from './changing.ts';
import { type LevelChange, type Place, type Standing, teamExtensions } from './extensions.ts';
import { invalidateTeam, REFUSALS, recordMembership, requirePlace, teamChanged, transferOwnership } from './places.ts';
import * as store from './store.ts';
import { ADMINISTRATOR, MANAGER, teamLevel } from './teams.ts';

export type { SeatRow } from './store.ts';

/** The submitter leads the team and ranks above other administrators, as do site administrators. */
const LEADER = ADMINISTRATOR + 1;

/** The columns that lists of a team can be filtered and sorted by. */
export const seatListing: Listing = {
  from: 't',
  columns: {
    id: { kind: 'integer' },
    user_id: { kind: 'integer' },
    username: { kind: 'text', sql: 'lower(u.username)' },
    level: { kind: 'integer' },
    date_added: { kind: 'integer' },
    pending: { kind: 'integer' },
  },
  sorts: { id: 't.id', user_id: 't.user_id', level: 't.level', date_added: 't.date_added' },
};

/** Lists the members. Invitations contain email addresses, so only managers of the team get them, on request. */
export async function listSeats(app: App, caller: Caller, place: Place, request: ListRequest) {
  await requirePlace(app, app.db, caller, place);
  const isAsked = request.groups.flat().some(({ column }) => column.name === 'pending');
  const withPending = isAsked && (await teamLevel(app.db, caller, place.resource, place.id)) >= MANAGER;
  return store.listSeats(app.db.query, place, withPending, seatListing, request);
}

/** A place and the caller's role in its team, which is locked against other changes. */
export interface Acting {
  readonly place: Place;
  readonly standing: Standing;
  readonly userId: number;
  readonly level: number;
  readonly rank: number;
}

export async function actingIn(app: App, transaction: Transaction, caller: UserCaller, place: Place): Promise<Acting> {
  await store.lock(transaction, place);
  const standing = await requirePlace(app, transaction, caller, place);
  const level = await teamLevel(transaction, caller, place.resource, place.id);
  const leads = caller.admin || (level > 0 && standing.submitted_by === caller.userId);
  return { place, standing, userId: caller.userId, level, rank: leads ? LEADER : level };
}

export interface MemberChanges extends store.SeatChanges {
  readonly leader?: boolean | undefined;
}

export async function changeMember(
  app: App,
  caller: UserCaller,
  place: Place,
  id: number,
  changes: MemberChanges,
): Promise<store.SeatRow> {
  return changeTeam(app, caller, place.gameId, async (transaction) => {
    const acting = await actingIn(app, transaction, caller, place);
    const seat = await requireSeat(transaction, acting, id);
    requireMayTouch(acting, seat, REFUSALS[place.resource].add);
    const { level = seat.level, position = seat.position, leader } = changes;
    if (level > acting.level) throw new ApiError('USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL');
    const isLeader = seat.user_id === acting.standing.submitted_by;
    const isNewLeader = leader === true && !isLeader;
    if (leader === false && isLeader) throw new ApiError('TEAM_MUST_HAVE_LEADER');
    if (level === seat.level && position === seat.position && !isNewLeader) throw new ApiError('TEAM_NO_DATA_CHANGE');
    if (isNewLeader) requireMayLead(acting, seat, level);
    if (level < ADMINISTRATOR) await requireStaysLed(transaction, acting, seat, 'TEAM_LEADER_MUST_BE_ADMIN');
    if (isSensitive(acting, seat, level) || (isNewLeader && place.resource === 'games'))
      await checkSensitiveChange(app, transaction, caller, place.gameId, {
        kind: 'change',
        member: id,
        level,
        leader: isNewLeader,
      });
    await (seat.pending ? store.changeInvite : store.changeMember)(transaction.query, id, { level, position });
    if (seat.user_id !== null) await closeInvitesAbove(app, transaction, place, seat.user_id, level);
    if (seat.user_id !== null)
      await levelChanged(app, transaction, place, {
        userId: seat.user_id,
        from: seat.level,
        to: level,
        changedBy: caller.userId,
      });
    if (isNewLeader) await transferOwnership(app, transaction, place, seat.user_id!);
    if (seat.pending) invalidateTeam(app, transaction, place);
    else await teamChanged(app, transaction, place, caller.userId);
    const data = { user: seat.user_id, level: [seat.level, level], leader: isNewLeader };
    await auditTeam(app, transaction, acting, 'change', data);
    return (await store.seatOf(transaction.query, place, id))!;
  });
}

async function levelChanged(app: App, transaction: Transaction, place: Place, change: LevelChange): Promise<void> {
  for (const { onLevelChange } of app.extensions.of(teamExtensions))
    await onLevelChange?.(app, transaction, place, change);
}

/** Removes a member, or withdraws an invitation. Every member may leave. */
export async function removeMember(app: App, caller: UserCaller, place: Place, id: number): Promise<void> {
  await changeTeam(app, caller, place.gameId, async (transaction) => {
    const acting = await actingIn(app, transaction, caller, place);
    const seat = await requireSeat(transaction, acting, id);
    requireMayTouch(acting, seat, REFUSALS[place.resource].remove);
    await requireStaysLed(transaction, acting, seat, 'TEAM_MUST_HAVE_LEADER');
    if (isSensitive(acting, seat, 0))
      await checkSensitiveChange(app, transaction, caller, place.gameId, { kind: 'remove', member: id });
    if (seat.user_id !== null) await leaveTeam(app, transaction, place, { id, userId: seat.user_id }, acting.userId);
    else {
      await store.closeInvite(transaction.query, id, app.clock.now());
      invalidateTeam(app, transaction, place);
    }
    await auditTeam(app, transaction, acting, 'remove', { user: seat.user_id, level: seat.level });
  });
}

/** Another user becomes an administrator of a game, or ceases to be one. Giving up one's own powers is not sensitive. */
function isSensitive({ place, userId }: Acting, seat: store.SeatRow, level: number): boolean {
  if (place.resource !== 'games' || seat.user_id === userId) return false;
  const isTaken = !seat.pending && seat.level >= ADMINISTRATOR;
  return level >= ADMINISTRATOR ? seat.level < ADMINISTRATOR : isTaken;
}

/** A mod's team that changes itself is not audited; changes by others, and of a game's team, are. */
export async function auditTeam(
  app: App,
  transaction: Transaction,
  { place: { resource, id, gameId }, userId }: Acting,
  done: 'invite' | 'change' | 'remove',
  data: Record<string, unknown>,
): Promise<void> {
  const isOwn = data['user'] === userId || (await store.levelOf(transaction, resource, id, userId)) > 0;
  if (resource === 'mods' && isOwn) return;
  const subject = { resource, id, gameId };
  await audit(app, transaction, { actor: userId, action: `${resource}.team-${done}`, subject, data });
}

/** Removes a seat with the powers that it gave; `by` is who decided it. */
export async function leaveTeam(
  app: App,
  transaction: Transaction,
  place: Place,
  { id, userId }: { readonly id: number; readonly userId: number },
  by: number,
): Promise<void> {
  for (const { onLeave } of app.extensions.of(teamExtensions)) await onLeave?.(app, transaction, place, userId);
  await store.removeMember(transaction.query, id);
  await closeInvitesAbove(app, transaction, place, userId, 0);
  await recordMembership(app, transaction, place, userId, 'USER_TEAM_LEAVE');
  await teamChanged(app, transaction, place, by);
}

/** Callers who may not read invitations get the error of a missing one. */
async function requireSeat(transaction: Transaction, { place, level }: Acting, id: number): Promise<store.SeatRow> {
  const seat = await store.seatOf(transaction.query, place, id);
  if (!seat || (seat.pending && level < MANAGER)) throw new ApiError('TEAM_NO_DATA_FOUND');
  return seat;
}

/** Managers and administrators change members below them, and every member themselves. */
function requireMayTouch({ standing, userId, level, rank }: Acting, seat: store.SeatRow, refused: ErrorName): void {
  if (seat.user_id === userId) return;
  if (level < MANAGER) throw new ApiError(refused);
  if (rank === LEADER) return;
  if (seat.user_id === standing.submitted_by) throw new ApiError('TEAM_NO_ACCESS_UPDATE_LEADER');
  if (seat.level >= rank && seat.invited_by !== userId) throw new ApiError('TEAM_NO_ACCESS_MODIFY_GTE_LEVEL');
}

function requireMayLead({ rank }: Acting, seat: store.SeatRow, level: number): void {
  if (rank < LEADER) throw new ApiError('TEAM_NO_ACCESS_UPDATE_LEADER');
  if (seat.pending) throw new ApiError('TEAM_LEADER_CANT_BE_PENDING');
  if (level < ADMINISTRATOR) throw new ApiError('TEAM_LEADER_MUST_BE_ADMIN');
}

/** Called before an administrator is demoted or leaves. */
async function requireStaysLed(
  transaction: Transaction,
  { place, standing }: Acting,
  seat: store.SeatRow,
  refused: 'TEAM_LEADER_MUST_BE_ADMIN' | 'TEAM_MUST_HAVE_LEADER',
): Promise<void> {
  if (seat.pending || seat.level < ADMINISTRATOR) return;
  if ((await store.administratorsOf(transaction, place)) <= 1) throw new ApiError('TEAM_NEEDS_ONE_ADMIN');
  if (seat.user_id === standing.submitted_by) throw new ApiError(refused);
}

const closeInvitesAbove = (app: App, { query }: Transaction, place: Place, userId: number, level: number) =>
  store.closeInvitesAbove(query, place, userId, level, app.clock.now());
