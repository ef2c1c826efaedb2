import type { Insertable, Selectable } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';
import type {
  EmailConfirmationsTable,
  PortalAccountsTable,
  PortalJourneysTable,
  PortalSettingsTable,
  PortalTicketsTable,
} from './table.ts';

export type AccountRow = Selectable<PortalAccountsTable>;
export type SettingsRow = Selectable<PortalSettingsTable>;

export const accountOf = (query: Query, portal: string, portalId: string, gameId: number) =>
  query
    .selectFrom('portal_accounts')
    .selectAll()
    .where('portal', '=', portal)
    .where('portal_id', '=', portalId)
    .where('game_id', '=', gameId)
    .executeTakeFirst();

export const accountsOf = (query: Query, userId: number): Promise<AccountRow[]> =>
  query
    .selectFrom('portal_accounts')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('date_used')
    .orderBy('id')
    .execute();

/** Returns false if the portal account is linked already, or the user has one on this portal. */
export async function addAccount(query: Query, row: Insertable<PortalAccountsTable>): Promise<boolean> {
  const added = await query
    .insertInto('portal_accounts')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

export const updateAccount = (
  query: Query,
  id: number,
  shown: Pick<AccountRow, 'display_name' | 'avatar' | 'date_used'>,
) => query.updateTable('portal_accounts').set(shown).where('id', '=', id).execute();

export const requestMonetization = (query: Query, portal: string, portalId: string, gameId: number) =>
  query
    .updateTable('portal_accounts')
    .set({ monetization_account: 1 })
    .where('portal', '=', portal)
    .where('portal_id', '=', portalId)
    .where('game_id', '=', gameId)
    .execute();

export const removeAccounts = (query: Query, ids: readonly number[]) =>
  query.deleteFrom('portal_accounts').where('id', 'in', ids).execute();

export const settingsOf = (query: Query, gameId: number, portal: string) =>
  query
    .selectFrom('portal_settings')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .executeTakeFirst();

export const allSettingsOf = (query: Query, gameId: number): Promise<SettingsRow[]> =>
  query.selectFrom('portal_settings').selectAll().where('game_id', '=', gameId).orderBy('portal').execute();

export async function putSettings(query: Query, row: SettingsRow): Promise<void> {
  const { game_id: _, portal: __, ...changed } = row;
  await query
    .insertInto('portal_settings')
    .values(row)
    .onConflict((conflict) => conflict.columns(['game_id', 'portal']).doUpdateSet(changed))
    .execute();
}

export async function removeSettings(query: Query, gameId: number, portal: string): Promise<boolean> {
  const { numDeletedRows } = await query
    .deleteFrom('portal_settings')
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the earlier use of the ticket, if there is one. */
export async function useTicket(
  query: Query,
  row: Insertable<PortalTicketsTable>,
): Promise<Selectable<PortalTicketsTable> | undefined> {
  const added = await query
    .insertInto('portal_tickets')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst();
  if (added) return undefined;
  return query.selectFrom('portal_tickets').selectAll().where('digest', '=', row.digest).executeTakeFirst();
}

export async function putJourney(query: Query, row: Insertable<PortalJourneysTable>): Promise<void> {
  const { digest: _, ...changed } = row;
  await query
    .insertInto('portal_journeys')
    .values(row)
    .onConflict((conflict) => conflict.column('digest').doUpdateSet(changed))
    .execute();
}

/** Only one of two concurrent requests gets it. */
export const takeJourney = (query: Query, digest: string, visit: string, now: number) =>
  query
    .deleteFrom('portal_journeys')
    .where('digest', '=', digest)
    .where('visit', '=', visit)
    .where('date_expires', '>', now)
    .returning('sealed')
    .executeTakeFirst();

export const confirmationOf = (query: Query, userId: number) =>
  query.selectFrom('email_confirmations').selectAll().where('user_id', '=', userId).executeTakeFirst();

export async function putConfirmation(query: Query, row: Insertable<EmailConfirmationsTable>): Promise<void> {
  const { user_id: _, ...changed } = row;
  await query
    .insertInto('email_confirmations')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(changed))
    .execute();
}

export const countAttempt = (query: Query, userId: number) =>
  query
    .updateTable('email_confirmations')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('user_id', '=', userId)
    .execute();

export const removeConfirmation = (query: Query, userId: number) =>
  query.deleteFrom('email_confirmations').where('user_id', '=', userId).execute();

export async function forget(query: Query, before: number): Promise<void> {
  await query.deleteFrom('portal_tickets').where('date_expires', '<', before).execute();
  await query.deleteFrom('email_confirmations').where('date_expires', '<', before).execute();
  await query.deleteFrom('portal_journeys').where('date_expires', '<', before).execute();
}

export async function removeAllOf(query: Query, userId: number): Promise<void> {
  await query.deleteFrom('portal_accounts').where('user_id', '=', userId).execute();
  await query.deleteFrom('email_confirmations').where('user_id', '=', userId).execute();
}

const SHARED = statement(`select a.id from portal_accounts a join portal_accounts b
  on b.portal = a.portal and b.game_id = a.game_id where a.user_id = ? and b.user_id = ? limit 1`);
/** Whether both have an account on a portal that allows one per user. */
export const shareAPortal = async (reader: Pick<Database, 'first'>, one: number, other: number): Promise<boolean> =>
  (await reader.first(SHARED, [one, other])) !== undefined;
