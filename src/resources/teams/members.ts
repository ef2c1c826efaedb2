import type { Caller, UserCaller } from '../../access/caller.ts';
import { accessChanged } from '../../access/credentials.ts';
import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import type { Listing, ListRequest } from '../../database/listing.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { recordModEvent, recordUserEvent } from '../events/events.ts';
import { announceMod, handOverMod, isPublic, type ModStanding, requireMod } from '../mods/mods.ts';
import * as store from './store.ts';
import { ADMINISTRATOR, MANAGER, teamLevel } from './teams.ts';

export type { SeatRow } from './store.ts';

/** The leader is the mod's submitter and ranks above the other administrators, as do those who run the site. */
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
export async function listSeats(app: App, caller: Caller, gameId: number, modId: number, request: ListRequest) {
  await requireMod(app.db, caller, gameId, modId);
  const isAsked = request.groups.flat().some(({ column }) => column.name === 'pending');
  const withPending = isAsked && (await teamLevel(app.db, caller, 'mods', modId)) >= MANAGER;
  return store.listSeats(app.db.query, modId, withPending, seatListing, request);
}

/** The mod, and what the caller is in its team. From here on nobody else changes that team. */
export interface Acting {
  readonly mod: ModStanding;
  readonly userId: number;
  readonly level: number;
  readonly rank: number;
}

export async function actingIn(
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  modId: number,
): Promise<Acting> {
  await store.lockMod(transaction, modId);
  const mod = await requireMod(transaction, caller, gameId, modId);
  const level = await teamLevel(transaction, caller, 'mods', modId);
  const leads = caller.admin || (level > 0 && mod.submitted_by === caller.userId);
  return { mod, userId: caller.userId, level, rank: leads ? LEADER : level };
}

export interface MemberChanges extends store.SeatChanges {
  readonly leader?: boolean | undefined;
}

export async function changeMember(
  app: App,
  caller: UserCaller,
  { gameId, modId, id }: { gameId: number; modId: number; id: number },
  changes: MemberChanges,
): Promise<store.SeatRow> {
  return app.db.write(async (transaction) => {
    const acting = await actingIn(transaction, caller, gameId, modId);
    const seat = await requireSeat(transaction, acting, id);
    requireMayTouch(acting, seat, 'MOD_TEAM_NO_ADD_PERMISSION');
    const { level = seat.level, position = seat.position, leader } = changes;
    if (level > acting.level) throw new ApiError('USER_CANT_ADD_MODIFY_ABOVE_OWN_LEVEL');
    const isLeader = seat.user_id === acting.mod.submitted_by;
    const isNewLeader = leader === true && !isLeader;
    if (leader === false && isLeader) throw new ApiError('TEAM_MUST_HAVE_LEADER');
    if (level === seat.level && position === seat.position && !isNewLeader) throw new ApiError('TEAM_NO_DATA_CHANGE');
    if (isNewLeader) requireMayLead(acting, seat, level);
    if (level < ADMINISTRATOR) await requireStaysLed(transaction, acting.mod, seat, 'TEAM_LEADER_MUST_BE_ADMIN');
    await (seat.pending ? store.changeInvite : store.changeMember)(transaction.query, id, { level, position });
    if (seat.user_id !== null) await closeInvitesAbove(app, transaction, modId, seat.user_id, level);
    if (isNewLeader) await handOverMod(app, transaction, acting.mod, seat.user_id!);
    if (seat.pending) announceTeam(transaction, acting.mod);
    else await teamChanged(app, transaction, acting.mod, caller.userId);
    return (await store.seatOf(transaction.query, modId, id))!;
  });
}

/** Removes a member, or withdraws an invitation. Everyone may leave. */
export async function removeMember(
  app: App,
  caller: UserCaller,
  { gameId, modId, id }: { gameId: number; modId: number; id: number },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const acting = await actingIn(transaction, caller, gameId, modId);
    const seat = await requireSeat(transaction, acting, id);
    requireMayTouch(acting, seat, 'MOD_TEAM_NO_DELETE_PERMISSION');
    await requireStaysLed(transaction, acting.mod, seat, 'TEAM_MUST_HAVE_LEADER');
    if (seat.user_id !== null) return leaveTeam(app, transaction, acting, id, seat.user_id);
    await store.closeInvite(transaction.query, id, app.clock.now());
    announceTeam(transaction, acting.mod);
  });
}

async function leaveTeam(app: App, transaction: Transaction, { mod, ...acting }: Acting, id: number, userId: number) {
  await store.removeMember(transaction.query, id);
  await closeInvitesAbove(app, transaction, mod.id, userId, 0);
  await recordUserEvent(app, transaction, { gameId: mod.game_id, modId: mod.id, userId, type: 'USER_TEAM_LEAVE' });
  await teamChanged(app, transaction, mod, acting.userId);
}

/** An invitation exists only for those who may read them. */
async function requireSeat(transaction: Transaction, { mod, level }: Acting, id: number): Promise<store.SeatRow> {
  const seat = await store.seatOf(transaction.query, mod.id, id);
  if (!seat || (seat.pending && level < MANAGER)) throw new ApiError('TEAM_NO_DATA_FOUND');
  return seat;
}

/** Managers and administrators change those below them, and everyone themselves. */
function requireMayTouch(
  { mod, userId, level, rank }: Acting,
  seat: store.SeatRow,
  refused: 'MOD_TEAM_NO_ADD_PERMISSION' | 'MOD_TEAM_NO_DELETE_PERMISSION',
): void {
  if (seat.user_id === userId) return;
  if (level < MANAGER) throw new ApiError(refused);
  if (rank === LEADER) return;
  if (seat.user_id === mod.submitted_by) throw new ApiError('TEAM_NO_ACCESS_UPDATE_LEADER');
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
  mod: ModStanding,
  seat: store.SeatRow,
  refused: 'TEAM_LEADER_MUST_BE_ADMIN' | 'TEAM_MUST_HAVE_LEADER',
): Promise<void> {
  if (seat.pending || seat.level < ADMINISTRATOR) return;
  if ((await store.administratorsOf(transaction, mod.id)) <= 1) throw new ApiError('TEAM_NEEDS_ONE_ADMIN');
  if (seat.user_id === mod.submitted_by) throw new ApiError(refused);
}

const closeInvitesAbove = (app: App, { query }: Transaction, modId: number, userId: number, level: number) =>
  store.closeInvitesAbove(query, modId, userId, level, app.clock.now());

/** Tells everyone that the team is another; as with every event of a mod, this comes last. */
export async function teamChanged(
  app: App,
  transaction: Transaction,
  mod: Pick<ModStanding, 'id' | 'game_id' | 'status' | 'visible'>,
  userId: number,
): Promise<void> {
  announceTeam(transaction, mod);
  const event = { gameId: mod.game_id, modId: mod.id, userId, isPublic: isPublic(mod) };
  await recordModEvent(app, transaction, { ...event, type: 'MOD_TEAM_CHANGED' });
}

export function announceTeam(transaction: Transaction, mod: Pick<ModStanding, 'id' | 'game_id'>): void {
  accessChanged(transaction);
  announceMod(transaction, mod.game_id, mod.id);
}
