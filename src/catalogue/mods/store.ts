import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Transaction,
  updateOf,
  type Value,
} from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { isWithinReach, type ModReach } from '../../platform/database/mod-reach.ts';
import { IN_GAME, type ModInGame } from '../../platform/database/mods-in-games.ts';
import type { ModStatsTable, ModsTable } from './table.ts';

export type ModRow = Selectable<ModsTable>;
export type ModStats = Omit<ModStatsTable, 'ranked' | 'counted'>;
/** What permission checks need. */
export type ModStanding = Pick<
  ModRow,
  | 'id'
  | 'game_id'
  | 'status'
  | 'visible'
  | 'submitted_by'
  | 'date_live'
  | 'dmca'
  | 'monetization_options'
  | 'stock'
  | 'price'
>;

/** The database, or a transaction that must see its own writes. */
type Reader = Pick<Database, 'first'>;

const STANDING = statement(`select id, game_id, status, visible, submitted_by, date_live, dmca, monetization_options,
  stock, price from mods where id = ?`);
export const standingOf = (reader: Reader, id: number) => reader.first<ModStanding>(STANDING, [id]);

const STANDING_IN_GAME = statement(`select ${IN_GAME} from mods m join games g on g.id = m.game_id where m.id = ?`);
export const standingInGame = (reader: Reader, id: number) => reader.first<ModInGame>(STANDING_IN_GAME, [id]);

/** On PostgreSQL this locks the row; SQLite has a single writer anyway. */
const ROW_FOR_CHANGE = withUpdateLock(statement('select * from mods where id = ?'));
export const rowForChange = (transaction: Transaction, id: number) => transaction.first<ModRow>(ROW_FOR_CHANGE, [id]);

const ANY_LIVE_FILE = statement('select modfile_id from mod_live_files where mod_id = ? limit 1');
export async function hasLiveFile(transaction: Transaction, modId: number): Promise<boolean> {
  return (await transaction.first(ANY_LIVE_FILE, [modId])) !== undefined;
}

const PLATFORM = statement('select platform from game_platforms where game_id = ? limit 1');
export async function hasPlatforms(reader: Reader, gameId: number): Promise<boolean> {
  return (await reader.first(PLATFORM, [gameId])) !== undefined;
}

const DEPENDENCY_OPTION = statement('select dependency_option from games where id = ?');
export async function dependencyOption(reader: Reader, gameId: number): Promise<number | undefined> {
  return (await reader.first<{ dependency_option: number }>(DEPENDENCY_OPTION, [gameId]))?.dependency_option;
}

const DEPENDANT = statement(`select d.mod_id from mod_dependencies d join mods m on m.id = d.mod_id
  where d.dependency_id = ? and m.status <> 3 limit 1`);
export async function hasDependants(reader: Reader, modId: number): Promise<boolean> {
  return (await reader.first(DEPENDANT, [modId])) !== undefined;
}

export const add = (query: Query, row: Insertable<ModsTable>): Promise<ModRow> =>
  query.insertInto('mods').values(row).returningAll().executeTakeFirstOrThrow();

/** Returns the changed mod. */
export async function change(transaction: Transaction, id: number, changes: Updateable<ModsTable>): Promise<ModRow> {
  const set = Object.entries(changes).filter(([, value]) => value !== undefined) as [string, Value][];
  const update = updateOf(
    'mods',
    set.map(([name]) => name),
  );
  return (await transaction.first<ModRow>(update, [...set.map(([, value]) => value), id]))!;
}

export type Ranked = Pick<ModRow, 'id' | 'popularity'>;

export const idsAfter = (query: Query, id: number, most: number) =>
  query.selectFrom('mods').select(['id', 'game_id']).where('id', '>', id).orderBy('id').limit(most).execute();

export async function remove(query: Query, id: number): Promise<void> {
  await query.deleteFrom('mod_words').where('mod_id', '=', id).execute();
  await query.deleteFrom('mod_cards').where('mod_id', '=', id).execute();
  await query.deleteFrom('mod_documents').where('mod_id', '=', id).execute();
  await query.deleteFrom('mod_stats').where('mod_id', '=', id).execute();
  await query.deleteFrom('mods').where('id', '=', id).execute();
}

/** How a user became a previewer, and the options that decide whether they still have access. */
export interface Preview {
  invited_by: number | null;
  community_options: number;
}

const PREVIEW =
  statement(`select p.invited_by, m.community_options from previewers p join mods m on m.id = p.resource_id
  where p.resource = 'mods' and p.resource_id = ? and p.user_id = ?`);
export const previewOf = (reader: Reader, id: number, userId: number) => reader.first<Preview>(PREVIEW, [id, userId]);

const PURCHASED = statement("select id from purchases where user_id = ? and mod_id = ? and status = 'paid'");
export const isPurchased = async (reader: Reader, id: number, userId: number): Promise<boolean> =>
  (await reader.first(PURCHASED, [userId, id])) !== undefined;

export async function reachedAmong(query: Query, reach: ModReach, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select m.id from mods m where m.id in (${sql.join(ids)})
    and ${isWithinReach(reach)}`.execute(query);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Those of these mods that the user sees although they are hidden: as a member, subscriber, buyer or previewer. The bits
 * are those of `isPreviewOpen`.
 */
export async function knownAmong(query: Query, userId: number, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select m.id from mods m where m.id in (${sql.join(ids)}) and (
    m.id in (select t.resource_id from team_members t where t.resource = 'mods' and t.user_id = ${userId})
    or m.id in (select s.mod_id from subscriptions s where s.user_id = ${userId})
    or m.id in (select b.mod_id from purchases b where b.user_id = ${userId} and b.status = 'paid')
    or m.id in (select p.resource_id from previewers p where p.resource = 'mods' and p.user_id = ${userId}
      and (m.community_options & (case when p.invited_by is null then 128 else 64 end)) <> 0)
  )`.execute(query);
  return rows.map(({ id }) => id);
}

const SUBSCRIBERS = statement('select user_id from subscriptions where mod_id = ? limit 1');
/** The counted subscribers may be seconds old. */
export const hasSubscribers = async (reader: Reader, id: number): Promise<boolean> =>
  (await reader.first(SUBSCRIBERS, [id])) !== undefined;

const SUBSCRIBED = statement('select user_id from subscriptions where user_id = ? and mod_id = ?');
export const isSubscribed = async (reader: Reader, id: number, userId: number): Promise<boolean> =>
  (await reader.first(SUBSCRIBED, [userId, id])) !== undefined;
