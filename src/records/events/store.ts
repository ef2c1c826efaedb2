import type { Selectable } from 'kysely';
import { statement, type Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import type { ModEventsTable, UserEventsTable } from './table.ts';

type ModEventRow = Pick<Selectable<ModEventsTable>, 'game_id' | 'mod_id' | 'user_id' | 'event_type' | 'date_added'>;
type UserEventRow = Omit<Selectable<UserEventsTable>, 'id'>;

/**
 * PostgreSQL assigns ids before the commit, so a client could see 8 before 7 and never ask for 7 again. Each writer
 * therefore takes its id while it holds a lock until the commit; SQLite has one writer.
 */
const ADD_MOD_EVENT = statement(`insert into mod_events
  (game_id, mod_id, user_id, event_type, date_added, shown, newest, newest_shown) values (?, ?, ?, ?, ?, ?, 1, ?)`);
const NO_LONGER_NEWEST = statement(
  'update mod_events set newest = 0 where mod_id = ? and event_type = ? and newest = 1',
);
const NO_LONGER_NEWEST_SHOWN = statement(`update mod_events set newest = 0, newest_shown = 0
  where mod_id = ? and event_type = ? and (newest = 1 or newest_shown = 1)`);

export async function addModEvent(transaction: Transaction, event: ModEventRow & { shown: number }) {
  const { game_id, mod_id, user_id, event_type, date_added, shown } = event;
  await takeAdvisoryLock(transaction, `mod_events/${game_id}`);
  await transaction.run(shown === 1 ? NO_LONGER_NEWEST_SHOWN : NO_LONGER_NEWEST, [mod_id, event_type]);
  await transaction.run(ADD_MOD_EVENT, [game_id, mod_id, user_id, event_type, date_added, shown, shown]);
}

const HIDE = statement(`update mod_events set shown = 0, newest_shown = 0
  where mod_id = ? and shown = 1 and event_type not in ('MOD_UNAVAILABLE', 'MOD_DELETED')`);
/** Hides the events of a mod that is no longer public, except the one that it disappeared. */
export const hideModEvents = (transaction: Transaction, modId: number) => transaction.run(HIDE, [modId]);

const WAS_SHOWN = statement('select id from mod_events where mod_id = ? and shown = 1 limit 1');
export const wasShown = async (transaction: Transaction, modId: number): Promise<boolean> =>
  (await transaction.first(WAS_SHOWN, [modId])) !== undefined;

export const takeTurnOfUser = (transaction: Transaction, userId: number): Promise<void> =>
  takeAdvisoryLock(transaction, `user_events/${userId}`);

const ADD_USER_EVENT = statement(
  'insert into user_events (game_id, mod_id, user_id, event_type, date_added) values (?, ?, ?, ?, ?)',
);
/** The transaction has taken the user's turn. */
export async function addUserEvent(transaction: Transaction, event: UserEventRow): Promise<void> {
  const { game_id, mod_id, user_id, event_type, date_added } = event;
  await transaction.run(ADD_USER_EVENT, [game_id, mod_id, user_id, event_type, date_added]);
}

const REMOVE_MOD_EVENTS = statement(`delete from mod_events
  where id in (select id from mod_events where date_added < ? order by date_added limit ?) returning game_id`);
const REMOVE_USER_EVENTS = statement(`delete from user_events
  where id in (select id from user_events where date_added < ? order by date_added limit ?) returning game_id`);

/** Returns the game of each removed mod event, and the number of removed user events. */
export async function removeSomeBefore(transaction: Transaction, date: number, most: number) {
  const ofMods = await transaction.all<{ game_id: number }>(REMOVE_MOD_EVENTS, [date, most]);
  const ofUsers = await transaction.all<{ game_id: number }>(REMOVE_USER_EVENTS, [date, most]);
  return { ofMods: ofMods.map((row) => row.game_id), ofUsers: ofUsers.length };
}
