import type { Insertable, Selectable } from 'kysely';
import type { Query } from '../../database/database.ts';
import type { EmailCodesTable } from './table.ts';

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
