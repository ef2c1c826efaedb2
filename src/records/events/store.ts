import { type Selectable, sql } from 'kysely';
import { type Bulk, insertMany } from '../../platform/database/bulk.ts';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { takeTurn } from '../../platform/database/locks.ts';
import { isMutedBy } from '../../platform/database/muted.ts';
import type { ModEventsTable, UserEventsTable } from './table.ts';

export type ModEventRow = Pick<
  Selectable<ModEventsTable>,
  'id' | 'game_id' | 'mod_id' | 'user_id' | 'event_type' | 'date_added'
>;
export type UserEventRow = Selectable<UserEventsTable>;

/**
 * PostgreSQL gives ids before it commits, so a reader could see 8 before 7 and never ask for 7 again. Whoever holds
 * this lock keeps it until its commit is seen by all, and takes its id within. SQLite has one writer.
 */

const ADD_MOD_EVENT = statement(`insert into mod_events
  (game_id, mod_id, user_id, event_type, date_added, shown, newest, newest_shown) values (?, ?, ?, ?, ?, ?, 1, ?)`);
const NO_LONGER_NEWEST = statement(
  'update mod_events set newest = 0 where mod_id = ? and event_type = ? and newest = 1',
);
const NO_LONGER_NEWEST_SHOWN = statement(
  'update mod_events set newest_shown = 0 where mod_id = ? and event_type = ? and newest_shown = 1',
);

export async function addModEvent(transaction: Transaction, event: Omit<ModEventRow, 'id'> & { shown: number }) {
  const { game_id, mod_id, user_id, event_type, date_added, shown } = event;
  await takeTurn(transaction, `mod_events/${game_id}`);
  await transaction.run(NO_LONGER_NEWEST, [mod_id, event_type]);
  if (shown === 1) await transaction.run(NO_LONGER_NEWEST_SHOWN, [mod_id, event_type]);
  await transaction.run(ADD_MOD_EVENT, [game_id, mod_id, user_id, event_type, date_added, shown, shown]);
}

const HIDE = statement(`update mod_events set shown = 0, newest_shown = 0
  where mod_id = ? and shown = 1 and event_type not in ('MOD_UNAVAILABLE', 'MOD_DELETED')`);
/** Of a mod that is no longer public nothing is told but that it is gone. */
export const hideModEvents = (transaction: Transaction, modId: number) => transaction.run(HIDE, [modId]);

const WAS_SHOWN = statement('select id from mod_events where mod_id = ? and shown = 1 limit 1');
export const wasShown = async (transaction: Transaction, modId: number): Promise<boolean> =>
  (await transaction.first(WAS_SHOWN, [modId])) !== undefined;

const ADD_USER_EVENT = statement(
  'insert into user_events (game_id, mod_id, user_id, event_type, date_added) values (?, ?, ?, ?, ?)',
);
export async function addUserEvent(transaction: Transaction, event: Omit<UserEventRow, 'id'>): Promise<void> {
  const { game_id, mod_id, user_id, event_type, date_added } = event;
  await takeTurn(transaction, `user_events/${user_id}`);
  await transaction.run(ADD_USER_EVENT, [game_id, mod_id, user_id, event_type, date_added]);
}

/** Which events of mods a list is about, and which of them its caller may see. */
export interface EventScope {
  readonly gameId: number;
  readonly modId: number | undefined;
  /** Those that are not shown to everyone may be seen as well. */
  readonly everything: boolean;
  /** They may be seen of the mods in whose teams this person is. */
  readonly memberId: number | undefined;
  /** Of each mod and type the newest alone. */
  readonly latest: boolean;
  /** Only those of mods to which this person has subscribed. */
  readonly subscriberId?: number | undefined;
  /** Without those of mods whose authors this person has muted. */
  readonly muterId?: number | undefined;
}

function within(query: Query, scope: EventScope) {
  const { gameId, modId, everything, memberId, latest, subscriberId, muterId } = scope;
  let events = query.selectFrom('mod_events as e').where('e.game_id', '=', gameId);
  if (subscriberId !== undefined)
    events = events.where(
      sql<boolean>`e.mod_id in (select s.mod_id from subscriptions s where s.user_id = ${subscriberId})`,
    );
  if (muterId !== undefined)
    events = events.where(sql<boolean>`not exists (select 1 from mods m where m.id = e.mod_id
      and ${isMutedBy(muterId, 'm.submitted_by')})`);
  if (modId !== undefined) events = events.where('e.mod_id', '=', modId);
  if (everything) return latest ? events.where('e.newest', '=', 1) : events;
  const shown = latest ? 'e.newest_shown' : 'e.shown';
  if (memberId === undefined) return events.where(shown, '=', 1);
  const isOwn = sql<boolean>`e.mod_id in (select t.resource_id from team_members t
    where t.resource = 'mods' and t.user_id = ${memberId})`;
  return events.where((eb) =>
    eb.or([eb.and([isOwn, eb('e.newest', '>=', Number(latest))]), eb.and([eb.not(isOwn), eb(shown, '=', 1)])]),
  );
}

const COLUMNS = ['e.id', 'e.game_id', 'e.mod_id', 'e.user_id', 'e.event_type', 'e.date_added'] as const;

export async function listModEvents(query: Query, scope: EventScope, listing: Listing, request: ListRequest) {
  const wanted = () => narrowed(within(query, scope), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const events: ModEventRow[] = await paged(wanted().select(COLUMNS), listing, request).execute();
  return { events, total: Number(total) };
}

export async function listUserEvents(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const wanted = () => narrowed(query.selectFrom('user_events as e').where('e.user_id', '=', userId), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const events: UserEventRow[] = await paged(wanted().select(COLUMNS), listing, request).execute();
  return { events, total: Number(total) };
}

const REMOVE_MOD_EVENTS = statement(`delete from mod_events
  where id in (select id from mod_events where date_added < ? order by date_added limit ?) returning game_id`);
const REMOVE_USER_EVENTS = statement(`delete from user_events
  where id in (select id from user_events where date_added < ? order by date_added limit ?) returning game_id`);

/** Returns the games of the events that were removed, one for each event. */
export async function removeSomeBefore(transaction: Transaction, date: number, most: number) {
  const ofMods = await transaction.all<{ game_id: number }>(REMOVE_MOD_EVENTS, [date, most]);
  const ofUsers = await transaction.all<{ game_id: number }>(REMOVE_USER_EVENTS, [date, most]);
  return { ofMods: ofMods.map((row) => row.game_id), ofUsers: ofUsers.length };
}

/** Of mods and people that have no events yet. */
export async function addMany(
  bulk: Bulk,
  ofMods: readonly Omit<Selectable<ModEventsTable>, 'id'>[],
  ofUsers: readonly Omit<UserEventRow, 'id'>[],
): Promise<void> {
  await insertMany(bulk, 'mod_events', ofMods);
  await insertMany(bulk, 'user_events', ofUsers);
}
