import type { Insertable } from 'kysely';
import { sql } from 'kysely';
import { type Database, type Query, type Statement, statement, type Transaction } from '../../database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../database/listing.ts';
import type { TeamInvitesTable, TeamMembersTable } from './table.ts';

export const add = (query: Query, member: Insertable<TeamMembersTable>) =>
  query.insertInto('team_members').values(member).execute();

const LEVEL = statement('select level from team_members where resource = ? and resource_id = ? and user_id = ?');

export async function levelOf(
  db: Pick<Database, 'first'>,
  resource: string,
  resourceId: number,
  userId: number,
): Promise<number> {
  return (await db.first<{ level: number }>(LEVEL, [resource, resourceId, userId]))?.level ?? 0;
}

/** Whoever changes a mod's team waits here for the others, so that two cannot remove each other. */
const LOCK_MOD: Statement = {
  text: 'select id from mods where id = ?',
  postgres: 'select id from mods where id = $1 for update',
};
export const lockMod = (transaction: Transaction, id: number) => transaction.first(LOCK_MOD, [id]);

/** The same for what one person does in several teams. */
const LOCK_USER: Statement = {
  text: 'select id from users where id = ?',
  postgres: 'select id from users where id = $1 for no key update',
};
export const lockUser = (transaction: Transaction, id: number) => transaction.first(LOCK_USER, [id]);

/** A member, or with `pending` 1 someone who is invited: then there is an address in place of the person. */
interface Seat {
  id: number;
  level: number;
  position: string;
  date_added: number;
  pending: number;
  user_id: number | null;
  email: string | null;
  invited_by: number | null;
}

const seatsOf = (modId: number) => sql<Seat>`(
  select id, level, position, date_added, 0 as pending, user_id, null as email, null as invited_by
    from team_members where resource = 'mods' and resource_id = ${modId}
  union all
  select id, level, position, date_added, 1, null, email, invited_by
    from team_invites where resource = 'mods' and resource_id = ${modId} and date_actioned is null)`;

const USER_COLUMNS = ['name_id', 'username', 'date_online', 'date_joined', 'avatar', 'timezone', 'language'] as const;

const seats = (query: Query, modId: number, withPending: boolean) =>
  query
    .selectFrom(seatsOf(modId).as('t'))
    .leftJoin('users as u', 'u.id', 't.user_id')
    .where((eb) => eb.or([eb('u.status', '<>', 3), ...(withPending ? [eb('t.pending', '=', 1)] : [])]));

const shown = (query: Query, modId: number, withPending: boolean) =>
  seats(query, modId, withPending)
    .select(['t.id', 't.level', 't.position', 't.date_added', 't.pending', 't.user_id', 't.email', 't.invited_by'])
    .select(USER_COLUMNS.map((name) => `u.${name}` as const));

export type SeatRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function listSeats(
  query: Query,
  modId: number,
  withPending: boolean,
  listing: Listing,
  request: ListRequest,
): Promise<{ rows: SeatRow[]; total: number }> {
  const { total } = await narrowed(seats(query, modId, withPending), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(narrowed(shown(query, modId, withPending), listing, request), listing, request).execute();
  return { rows, total: Number(total) };
}

export const seatOf = (query: Query, modId: number, id: number) =>
  shown(query, modId, true).where('t.id', '=', id).executeTakeFirst();

export const memberSeat = (query: Query, modId: number, userId: number) =>
  shown(query, modId, false).where('t.user_id', '=', userId).executeTakeFirst();

const ADMINISTRATORS = statement(`select count(*) as total from team_members t join users u on u.id = t.user_id
  where t.resource = 'mods' and t.resource_id = ? and t.level >= 8 and u.status <> 3`);
export async function administratorsOf(transaction: Transaction, modId: number): Promise<number> {
  return Number((await transaction.first<{ total: number }>(ADMINISTRATORS, [modId]))!.total);
}

export interface SeatChanges {
  level?: number | undefined;
  position?: string | undefined;
}

export const changeMember = (query: Query, id: number, changes: SeatChanges) =>
  query.updateTable('team_members').set(changes).where('id', '=', id).execute();

export const removeMember = (query: Query, id: number) =>
  query.deleteFrom('team_members').where('id', '=', id).execute();

export const changeInvite = (query: Query, id: number, changes: SeatChanges) =>
  query.updateTable('team_invites').set(changes).where('id', '=', id).execute();

export const closeInvite = (query: Query, id: number, now: number) =>
  query.updateTable('team_invites').set({ date_actioned: now }).where('id', '=', id).execute();

/** Nobody invites to more than they are themselves, also not after they have become less. */
export const closeInvitesAbove = (query: Query, modId: number, inviterId: number, level: number, now: number) =>
  query
    .updateTable('team_invites')
    .set({ date_actioned: now })
    .where('resource', '=', 'mods')
    .where('resource_id', '=', modId)
    .where('invited_by', '=', inviterId)
    .where('level', '>', level)
    .where('date_actioned', 'is', null)
    .execute();

export const addInvite = (query: Query, invite: Insertable<TeamInvitesTable>) =>
  query.insertInto('team_invites').values(invite).returningAll().executeTakeFirstOrThrow();

export const inviteById = (query: Query, id: number) =>
  query.selectFrom('team_invites').selectAll().where('id', '=', id).executeTakeFirst();

const OPEN = `select count(*) as total from team_invites where date_actioned is null`;
const OPEN_OF_MOD = statement(`${OPEN} and resource = 'mods' and resource_id = ?`);
const OPEN_TO = statement(`${OPEN} and resource = 'mods' and resource_id = ? and email = ?`);
const OPEN_BY = statement(`${OPEN} and invited_by = ?`);
const LATELY_BY = statement('select count(*) as total from team_invites where invited_by = ? and date_added > ?');

const count = async (transaction: Transaction, read: Statement, values: (number | string)[]) =>
  Number((await transaction.first<{ total: number }>(read, values))!.total);

export const openInvitesOf = (transaction: Transaction, modId: number) => count(transaction, OPEN_OF_MOD, [modId]);
export const openInvitesTo = (transaction: Transaction, modId: number, email: string) =>
  count(transaction, OPEN_TO, [modId, email]);
export const openInvitesBy = (transaction: Transaction, userId: number) => count(transaction, OPEN_BY, [userId]);
export const invitesBySince = (transaction: Transaction, userId: number, since: number) =>
  count(transaction, LATELY_BY, [userId, since]);

const invitesWithMods = (query: Query) =>
  query
    .selectFrom('team_invites as i')
    .innerJoin('mods as m', 'm.id', 'i.resource_id')
    .innerJoin('games as g', 'g.id', 'm.game_id')
    .innerJoin('users as u', 'u.id', 'i.invited_by')
    .where('i.resource', '=', 'mods')
    .where('i.date_actioned', 'is', null)
    .where('m.status', '<>', 3)
    .select(['i.id', 'i.level', 'i.position', 'i.date_added', 'i.email', 'm.id as mod_id', 'm.name as mod_name'])
    .select([
      'g.id as game_id',
      'g.name as game_name',
      'u.id as user_id',
      'm.status as mod_status',
      'm.visible as mod_visible',
    ])
    .select(USER_COLUMNS.map((name) => `u.${name}` as const));

export type OpenInvite = Awaited<ReturnType<ReturnType<typeof invitesWithMods>['executeTakeFirstOrThrow']>>;

/** What is open for an address, up to a number that is beyond what anyone reads. */
export const openInvitesFor = (query: Query, email: string, most: number) =>
  invitesWithMods(query).where('i.email', '=', email).orderBy('i.id').limit(most).execute();

export const openInvite = (query: Query, id: number) =>
  invitesWithMods(query).where('i.id', '=', id).executeTakeFirst();
