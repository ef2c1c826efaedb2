import { type Insertable, type Selectable, sql } from 'kysely';
import type { Query } from '../../database/database.ts';
import type { EmailChangesTable, EmailCodesTable } from './table.ts';

export type CodeRow = Selectable<EmailCodesTable>;

export async function addCode(query: Query, row: Insertable<EmailCodesTable>): Promise<void> {
  await query.insertInto('email_codes').values(row).execute();
}

/** An address has one open code: asking again replaces it. */
export const closeCodes = (query: Query, email: string, now: number) =>
  query
    .updateTable('email_codes')
    .set({ date_expires: now })
    .where('email', '=', email)
    .where('date_expires', '>', now)
    .where('date_redeemed', 'is', null)
    .execute();

export const forgetCodes = (query: Query, before: number) =>
  query.deleteFrom('email_codes').where('date_expires', '<', before).execute();

/** Whoever has the address next, it is none of theirs what was sent there before. */
export const removeCodes = (query: Query, email: string) =>
  query.deleteFrom('email_codes').where('email', '=', email).execute();

export const codesWith = (query: Query, digest: string): Promise<CodeRow[]> =>
  query.selectFrom('email_codes').selectAll().where('digest', '=', digest).orderBy('id', 'desc').execute();

/** Returns false when another request redeemed it first. */
export async function redeem(query: Query, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('email_codes')
    .set({ date_redeemed: now })
    .where('id', '=', id)
    .where('date_redeemed', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export const countAttempt = (query: Query, asker: { keyId: number; ip: string }, now: number) =>
  query
    .updateTable('email_codes')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('key_id', '=', asker.keyId)
    .where('ip', '=', asker.ip)
    .where('date_expires', '>', now)
    .where('date_redeemed', 'is', null)
    .execute();

/** How many codes an address was sent since then. */
export async function codesSince(query: Query, email: string, since: number): Promise<number> {
  const { total } = await query
    .selectFrom('email_codes')
    .select(sql<number>`count(*)`.as('total'))
    .where('email', '=', email)
    .where('date_added', '>', since)
    .executeTakeFirstOrThrow();
  return Number(total);
}

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

/** Whether someone leads a game or a mod that is not deleted. */
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
