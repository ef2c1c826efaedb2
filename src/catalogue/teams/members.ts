import { noteNewcomer } from '../../files/releases/holding.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { requireReview, reviewed } from '../reviews/reviews.ts';
import {
  announceTeam,
  handOver,
  type Place,
  REFUSALS,
  recordMembership,
  requirePlace,
  type Standing,
  teamChanged,
} from './places.ts';
import * as store from './store.ts';
import { ADMINISTRATOR, MANAGER, teamLevel } from './teams.ts';

export type { SeatRow } from './store.ts';

/** The leader is the submitter and ranks above the other administrators, as do those who run the site. */
const LEADER = ADMINISTRATOR + 1;

/** What lists of a team may be filtered and sorted by. */
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

/** The members. Invitations show addresses, so they are listed only where asked for, and for managers of the team alone. */
export async function listSeats(app: App, caller: Caller, place: Place, request: ListRequest) {
  await requirePlace(app.db, caller, place);
  const isAsked = request.groups.flat().some(({ column }) => column.name === 'pending');
  const withPending = isAsked && (await teamLevel(app.db, caller, place.resource, place.id)) >= MANAGER;
  return store.listSeats(app.db.query, place, withPending, seatListing, request);
}

/** The place, and what the caller is in its team. From here on nobody else changes that team. */
export interface Acting {
  readonly place: Place;
  readonly standing: Standing;
  readonly userId: number;
  readonly level: number;
  readonly rank: number;
}

export async function actingIn(transaction: Transaction, caller: UserCaller, place: Place): Promise<Acting> {
  await store.lock(transaction, place);
  const standing = await requirePlace(transaction, caller, place);
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
  return reviewed(app, caller, place.gameId, async (transaction) => {
    const acting = await actingIn(transaction, caller, place);
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
      await requireReview(app, transaction, caller, place.gameId, {
        kind: 'change',
        member: id,
        level,
        leader: isNewLeader,
      });
    await (seat.pending ? store.changeInvite : store.changeMember)(transaction.query, id, { level, position });
    if (seat.user_id !== null) await closeInvitesAbove(app, transaction, place, seat.user_id, level);
    if (seat.user_id !== null && seat.level < MANAGER && level >= MANAGER)
      await noteNewcomer(app, transaction, place, { userId: seat.user_id, by: caller.userId });
    if (isNewLeader) await handOver(app, transaction, place, seat.user_id!);
    if (seat.pending) announceTeam(transaction, place);
    else await teamChanged(app, transaction, place, acting.standing, caller.userId);
    const data = { user: seat.user_id, level: [seat.level, level], leader: isNewLeader };
    await auditTeam(app, transaction, acting, 'change', data);
    return (await store.seatOf(transaction.query, place, id))!;
  });
}

/** Removes a member, or withdraws an invitation. Everyone may leave. */
export async function removeMember(app: App, caller: UserCaller, place: Place, id: number): Promise<void> {
  await reviewed(app, caller, place.gameId, async (transaction) => {
    const acting = await actingIn(transaction, caller, place);
    const seat = await requireSeat(transaction, acting, id);
    requireMayTouch(acting, seat, REFUSALS[place.resource].remove);
    await requireStaysLed(transaction, acting, seat, 'TEAM_MUST_HAVE_LEADER');
    if (isSensitive(acting, seat, 0))
      await requireReview(app, transaction, caller, place.gameId, { kind: 'remove', member: id });
    if (seat.user_id !== null) await leaveTeam(app, transaction, acting, id, seat.user_id);
    else {
      await store.closeInvite(transaction.query, id, app.clock.now());
      announceTeam(transaction, place);
    }
    await auditTeam(app, transaction, acting, 'remove', { user: seat.user_id, level: seat.level });
  });
}

/** Someone else becomes an administrator of a game, or ceases to be one. Everyone may give their own powers up. */
function isSensitive({ place, userId }: Acting, seat: store.SeatRow, level: number): boolean {
  if (place.resource !== 'games' || seat.user_id === userId) return false;
  const isTaken = !seat.pending && seat.level >= ADMINISTRATOR;
  return level >= ADMINISTRATOR ? seat.level < ADMINISTRATOR : isTaken;
}

/** The team of a game decides over others, that of a mod over itself; whoever else changes it runs the site. */
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

async function leaveTeam(app: App, transaction: Transaction, acting: Acting, id: number, userId: number) {
  const { place, standing } = acting;
  await store.removeMember(transaction.query, id);
  await closeInvitesAbove(app, transaction, place, userId, 0);
  await recordMembership(app, transaction, place, userId, 'USER_TEAM_LEAVE');
  await teamChanged(app, transaction, place, standing, acting.userId);
}

/** An invitation exists only for those who may read them. */
async function requireSeat(transaction: Transaction, { place, level }: Acting, id: number): Promise<store.SeatRow> {
  const seat = await store.seatOf(transaction.query, place, id);
  if (!seat || (seat.pending && level < MANAGER)) throw new ApiError('TEAM_NO_DATA_FOUND');
  return seat;
}

/** Managers and administrators change those below them, and everyone themselves. */
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

/** Asked before an administrator becomes less, or leaves. */
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
