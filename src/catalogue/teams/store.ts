import type { Insertable } from 'kysely';
import { sql } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { PERSON } from '../../platform/database/people.ts';
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

/** What a team belongs to. */
export interface Place {
  readonly resource: string;
  readonly id: number;
}

/** Serialises changes of a team, so that two members cannot remove each other. */
const lockOf = (table: 'games' | 'mods'): Statement =>
  withUpdateLock(statement(`select id from ${table} where id = ?`));
const LOCKS = { games: lockOf('games'), mods: lockOf('mods') };
export const lock = (transaction: Transaction, { resource, id }: Place) =>
  transaction.first(LOCKS[resource as keyof typeof LOCKS], [id]);

/** Serialises what one user does in several teams. */
const LOCK_USER = withUpdateLock(statement('select id from users where id = ?'));
export const lockUser = (transaction: Transaction, id: number) => transaction.first(LOCK_USER, [id]);

/** A member, or with `pending` 1 an invitation, which has an email address instead of a user. */
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

const seatsOf = ({ resource, id }: Place) => sql<Seat>`(
  select id, level, position, date_added, 0 as pending, user_id, null as email, null as invited_by
    from team_members where resource = ${resource} and resource_id = ${id}
  union all
  select id, level, position, date_added, 1, null, email, invited_by
    from team_invites where resource = ${resource} and resource_id = ${id} and date_actioned is null)`;

const seats = (query: Query, place: Place, withPending: boolean) =>
  query
    .selectFrom(seatsOf(place).as('t'))
    .leftJoin('users as u', 'u.id', 't.user_id')
    .where((eb) => eb.or([eb('u.status', '<>', 3), ...(withPending ? [eb('t.pending', '=', 1)] : [])]));

const shown = (query: Query, place: Place, withPending: boolean) =>
  seats(query, place, withPending)
    .select(['t.id', 't.level', 't.position', 't.date_added', 't.pending', 't.user_id', 't.email', 't.invited_by'])
    .select(PERSON);

export type SeatRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function listSeats(
  query: Query,
  place: Place,
  withPending: boolean,
  listing: Listing,
  request: ListRequest,
): Promise<{ rows: SeatRow[]; total: number }> {
  const { total } = await narrowed(seats(query, place, withPending), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(narrowed(shown(query, place, withPending), listing, request), listing, request).execute();
  return { rows, total: Number(total) };
}

export const seatOf = (query: Query, place: Place, id: number) =>
  shown(query, place, true).where('t.id', '=', id).executeTakeFirst();

export const memberSeat = (query: Query, place: Place, userId: number) =>
  shown(query, place, false).where('t.user_id', '=', userId).executeTakeFirst();

const ADMINISTRATORS = statement(`select count(*) as total from team_members t join users u on u.id = t.user_id
  where t.resource = ? and t.resource_id = ? and t.level >= 8 and u.status <> 3`);
export async function administratorsOf(transaction: Transaction, { resource, id }: Place): Promise<number> {
  return Number((await transaction.first<{ total: number }>(ADMINISTRATORS, [resource, id]))!.total);
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

/** Closes invitations above the inviter's own level, after that level was lowered. */
export const closeInvitesAbove = (query: Query, place: Place, inviterId: number, level: number, now: number) =>
  query
    .updateTable('team_invites')
    .set({ date_actioned: now })
    .where('resource', '=', place.resource)
    .where('resource_id', '=', place.id)
    .where('invited_by', '=', inviterId)
    .where('level', '>', level)
    .where('date_actioned', 'is', null)
    .execute();

export const addInvite = (query: Query, invite: Insertable<TeamInvitesTable>) =>
  query.insertInto('team_invites').values(invite).returningAll().executeTakeFirstOrThrow();

export const inviteById = (query: Query, id: number) =>
  query.selectFrom('team_invites').selectAll().where('id', '=', id).executeTakeFirst();

const OPEN = `select count(*) as total from team_invites where date_actioned is null`;
const OPEN_OF = statement(`${OPEN} and resource = ? and resource_id = ?`);
const OPEN_TO = statement(`${OPEN} and resource = ? and resource_id = ? and email = ?`);
const OPEN_BY = statement(`${OPEN} and invited_by = ?`);
const LATELY_BY = statement('select count(*) as total from team_invites where invited_by = ? and date_added > ?');

const count = async (transaction: Transaction, read: Statement, values: (number | string)[]) =>
  Number((await transaction.first<{ total: number }>(read, values))!.total);

export const openInvitesOf = (transaction: Transaction, { resource, id }: Place) =>
  count(transaction, OPEN_OF, [resource, id]);
export const openInvitesTo = (transaction: Transaction, { resource, id }: Place, email: string) =>
  count(transaction, OPEN_TO, [resource, id, email]);
export const openInvitesBy = (transaction: Transaction, userId: number) => count(transaction, OPEN_BY, [userId]);
export const invitesBySince = (transaction: Transaction, userId: number, since: number) =>
  count(transaction, LATELY_BY, [userId, since]);

/** For the team of a game, the columns of the mod are 0 and empty. */
const invitesWithPlaces = (query: Query) =>
  query
    .selectFrom('team_invites as i')
    .leftJoin('mods as m', (join) => join.on('i.resource', '=', 'mods').onRef('m.id', '=', 'i.resource_id'))
    .innerJoin('games as g', (join) =>
      join.on('g.id', '=', sql<number>`case when i.resource = 'games' then i.resource_id else m.game_id end`),
    )
    .innerJoin('users as u', 'u.id', 'i.invited_by')
    .where('i.date_actioned', 'is', null)
    // Hidden from users who have blocked the inviter, without the inviter noticing.
    .where(
      sql<boolean>`not exists (select 1 from users e join blocks b on b.user_id = e.id
        where e.email = i.email and b.blocked_id = i.invited_by)`,
    )
    .where('g.status', '<>', 3)
    .where((eb) => eb.or([eb('i.resource', '=', 'games'), eb('m.status', '<>', 3)]))
    .select(['i.id', 'i.resource', 'i.level', 'i.position', 'i.date_added', 'i.email'])
    .select([sql<number>`coalesce(m.id, 0)`.as('mod_id'), sql<string>`coalesce(m.name, '')`.as('mod_name')])
    .select(['g.id as game_id', 'g.name as game_name', 'u.id as user_id'])
    .select(PERSON);

export type OpenInvite = Awaited<ReturnType<ReturnType<typeof invitesWithPlaces>['executeTakeFirstOrThrow']>>;

/** The open invitations to an address, up to a limit that no list reaches in practice. */
export const openInvitesFor = (query: Query, email: string, most: number) =>
  invitesWithPlaces(query).where('i.email', '=', email).orderBy('i.id').limit(most).execute();

export const openInvite = (query: Query, id: number) =>
  invitesWithPlaces(query).where('i.id', '=', id).executeTakeFirst();

export async function removeTeam(query: Query, resource: string, resourceId: number): Promise<void> {
  await query
    .deleteFrom('team_members')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .execute();
  await query
    .deleteFrom('team_invites')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .execute();
}

const RAISE = statement(`update team_members set level = (select max(o.level) from team_members o
    where o.resource = team_members.resource and o.resource_id = team_members.resource_id and o.user_id in (?, ?))
  where user_id = ?`);
/** When two accounts in one team merge, the remaining one gets the higher level. */
export const raiseTo = (transaction: Transaction, from: number, to: number) => transaction.run(RAISE, [from, to, to]);

const REMOVE_EVERYWHERE = statement('delete from team_members where user_id = ?');
export const removeEverywhere = (transaction: Transaction, userId: number) =>
  transaction.run(REMOVE_EVERYWHERE, [userId]);

const REMOVE_INVITES = statement('delete from team_invites where email = ?');
export const removeInvitesTo = (transaction: Transaction, email: string) => transaction.run(REMOVE_INVITES, [email]);

const DOUBLED_INVITES = statement(`delete from team_invites where email = ? and date_actioned is null and exists
  (select 1 from team_invites o where o.resource = team_invites.resource
    and o.resource_id = team_invites.resource_id and o.email = ? and o.date_actioned is null)`);
const READDRESS = statement('update team_invites set email = ? where email = ?');
/** Moves invitations from one address to another. */
export async function readdressInvites(transaction: Transaction, from: string, to: string): Promise<void> {
  await transaction.run(DOUBLED_INVITES, [from, to]);
  await transaction.run(READDRESS, [to, from]);
}

/** Makes the submitters of mods without a team administrators of it, as those of new mods are. */
export async function addMissingOwners(
  { query }: Pick<Transaction, 'query'>,
  modIds: readonly number[],
  owner: { readonly level: number; readonly date_added: number },
): Promise<void> {
  await sql`insert into team_members (resource, resource_id, user_id, level, position, date_added)
    select 'mods', m.id, m.submitted_by, ${owner.level}, 'Owner', ${owner.date_added} from mods m
    where m.id in (${sql.join(modIds)}) and not exists
      (select 1 from team_members t where t.resource = 'mods' and t.resource_id = m.id)`.execute(query);
}
