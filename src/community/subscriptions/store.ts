import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import type { SubscriptionsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;

const OF_PERSON = statement('select date_added from subscriptions where user_id = ? and mod_id = ?');
export const isSubscribed = async (reader: Reader, userId: number, modId: number): Promise<boolean> =>
  (await reader.first(OF_PERSON, [userId, modId])) !== undefined;

const ADD = statement(`insert into subscriptions (user_id, mod_id, date_added) values (?, ?, ?)
  on conflict (user_id, mod_id) do nothing returning mod_id`);
const RENEW = statement('update subscriptions set date_added = ? where user_id = ? and mod_id = ?');
/** Returns whether the subscription is new. Of two equal requests the second waits for the first. */
export async function put(transaction: Transaction, { user_id, mod_id, date_added }: SubscriptionsTable) {
  if (await transaction.first(ADD, [user_id, mod_id, date_added])) return true;
  await transaction.run(RENEW, [date_added, user_id, mod_id]);
  return false;
}

const REMOVE = statement('delete from subscriptions where user_id = ? and mod_id = ? returning mod_id');
/** Returns false if there was none. */
export const remove = async (transaction: Transaction, userId: number, modId: number): Promise<boolean> =>
  (await transaction.first(REMOVE, [userId, modId])) !== undefined;

const REMOVE_SOME = statement(`delete from subscriptions where mod_id = ? and user_id in
  (select user_id from subscriptions where mod_id = ? and date_added <= ? order by user_id limit ?) returning user_id`);
/** Removes one batch of the subscriptions up to this date. Returns their users. */
export async function removeSome(transaction: Transaction, modId: number, date: number, most: number) {
  const rows = await transaction.all<{ user_id: number }>(REMOVE_SOME, [modId, modId, date, most]);
  return rows.map((row) => row.user_id).sort((one, other) => one - other);
}

const REMOVE_ALL = statement('delete from subscriptions where mod_id = ?');
export const removeOfMod = (transaction: Transaction, modId: number) => transaction.run(REMOVE_ALL, [modId]);

const SUBSCRIBERS = statement('select user_id from subscriptions where mod_id = ? limit 1');
export const hasSubscribers = async (reader: Reader, modId: number): Promise<boolean> =>
  (await reader.first(SUBSCRIBERS, [modId])) !== undefined;

const LIVE_FILE = statement('select modfile_id from mod_live_files where mod_id = ? limit 1');
export const hasLiveFile = async (reader: Reader, modId: number): Promise<boolean> =>
  (await reader.first(LIVE_FILE, [modId])) !== undefined;

const MODS_OF = statement('select mod_id from subscriptions where user_id = ? order by mod_id limit ?');
export async function modsOf(transaction: Transaction, userId: number, most: number): Promise<number[]> {
  return (await transaction.all<{ mod_id: number }>(MODS_OF, [userId, most])).map(({ mod_id }) => mod_id);
}

const MOVE = statement('update subscriptions set user_id = ? where user_id = ? and mod_id = ?');
export const move = (transaction: Transaction, modId: number, from: number, to: number) =>
  transaction.run(MOVE, [to, from, modId]);
