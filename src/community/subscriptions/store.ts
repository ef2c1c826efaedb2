import { type Database, idsIn, type Statement, statement, type Transaction } from '../../platform/database/database.ts';
import { IN_GAME, type ModInGame } from '../../platform/database/mods-in-games.ts';
import type { SubscriptionsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;

const AMONG: Statement = {
  text: 'select mod_id from subscriptions where user_id = ? and mod_id in (select value from json_each(?))',
  postgres: `select mod_id from subscriptions where user_id = $1 and mod_id = any(${idsIn('$2')})`,
};
/** Those of the mods that the user has subscribed to. They stay so while the user's turn is taken. */
export async function subscribedAmong(transaction: Transaction, userId: number, ids: readonly number[]) {
  if (ids.length === 0) return new Set<number>();
  const rows = await transaction.all<{ mod_id: number }>(AMONG, [userId, JSON.stringify(ids)]);
  return new Set(rows.map(({ mod_id }) => mod_id));
}

interface SubscribableMod extends ModInGame {
  readonly has_file: number;
  readonly is_subscribed: number;
}

const SUBSCRIBABLE = statement(`select ${IN_GAME},
    case when exists (select 1 from mod_live_files l where l.mod_id = m.id) then 1 else 0 end as has_file,
    case when exists (select 1 from subscriptions s where s.user_id = ? and s.mod_id = m.id) then 1 else 0 end
      as is_subscribed
  from mods m join games g on g.id = m.game_id where m.id = ?`);
/** The mod as a subscription of the user needs it, in one statement. */
export const subscribable = (transaction: Transaction, userId: number, modId: number) =>
  transaction.first<SubscribableMod>(SUBSCRIBABLE, [userId, modId]);

const ADD = statement('insert into subscriptions (user_id, mod_id, date_added) values (?, ?, ?)');
export const add = (transaction: Transaction, { user_id, mod_id, date_added }: SubscriptionsTable) =>
  transaction.run(ADD, [user_id, mod_id, date_added]);

const RENEW = statement('update subscriptions set date_added = ? where user_id = ? and mod_id = ?');
export const renew = (transaction: Transaction, { user_id, mod_id, date_added }: SubscriptionsTable) =>
  transaction.run(RENEW, [date_added, user_id, mod_id]);

const REMOVE = statement('delete from subscriptions where user_id = ? and mod_id = ?');
export const remove = (transaction: Transaction, userId: number, modId: number) =>
  transaction.run(REMOVE, [userId, modId]);

const TAKE = statement('delete from subscriptions where user_id = ? and mod_id = ? returning mod_id');
/** Returns false if there was none. */
export const take = async (transaction: Transaction, userId: number, modId: number): Promise<boolean> =>
  (await transaction.first(TAKE, [userId, modId])) !== undefined;

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
