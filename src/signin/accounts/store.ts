import { type Database, type Query, statement } from '../../platform/database/database.ts';
import type { EmailChangesTable } from './table.ts';

export const emailChangeOf = (query: Query, userId: number) =>
  query.selectFrom('email_changes').selectAll().where('user_id', '=', userId).executeTakeFirst();

export async function putEmailChange(query: Query, row: EmailChangesTable): Promise<void> {
  await removeEmailChange(query, row.user_id);
  await query.insertInto('email_changes').values(row).execute();
}

export const removeEmailChange = (query: Query, userId: number) =>
  query.deleteFrom('email_changes').where('user_id', '=', userId).execute();

export const countChangeAttempt = (query: Query, userId: number) =>
  query
    .updateTable('email_changes')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('user_id', '=', userId)
    .execute();

/** Whether the user owns a game or a mod that is not deleted. */
export async function leads(query: Query, userId: number): Promise<{ games: boolean; mods: boolean }> {
  const led = (table: 'games' | 'mods') =>
    query.selectFrom(table).select('id').where('submitted_by', '=', userId).where('status', '<>', 3).limit(1);
  const [games, mods] = [await led('games').execute(), await led('mods').execute()];
  return { games: games.length > 0, mods: mods.length > 0 };
}

export const mergingInto = (query: Query, userId: number) =>
  query
    .selectFrom('users')
    .select('id')
    .where('merged_into', '=', userId)
    .where('date_merged', 'is', null)
    .executeTakeFirst();

/** What people notice most of an account, each found by an index. */
const CONTENTS = statement(`select
  (select count(*) from portal_accounts where user_id = ?) as connections,
  (select count(*) from team_members where user_id = ?) as teams,
  (select count(*) from subscriptions where user_id = ?) as subscriptions,
  (select count(*) from ratings where user_id = ?) as ratings,
  (select count(*) from comments where submitted_by = ?) as comments,
  (select count(*) from collections where submitted_by = ?) as collections,
  (select count(*) from messages where user_id = ?) as messages,
  (select count(*) from purchases where user_id = ?) as purchases`);

const KINDS = [
  'connections',
  'teams',
  'subscriptions',
  'ratings',
  'comments',
  'collections',
  'messages',
  'purchases',
] as const;
export type Contents = Readonly<Record<(typeof KINDS)[number], number>>;

export async function contentsOf(reader: Pick<Database, 'first'>, userId: number): Promise<Contents> {
  const row = await reader.first<Contents>(
    CONTENTS,
    KINDS.map(() => userId),
  );
  return Object.fromEntries(KINDS.map((kind) => [kind, Number(row![kind])])) as Contents;
}
