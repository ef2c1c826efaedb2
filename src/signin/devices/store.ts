import type { Insertable, Selectable } from 'kysely';
import type { Query } from '../../platform/database/database.ts';
import type { DeviceLoginsTable } from './table.ts';

export type DeviceLoginRow = Selectable<DeviceLoginsTable>;

/** Undefined if the code is in use. */
export async function add(query: Query, row: Insertable<DeviceLoginsTable>): Promise<number | undefined> {
  const added = await query
    .insertInto('device_logins')
    .values(row)
    .onConflict((conflict) => conflict.column('code_digest').doNothing())
    .returning('id')
    .executeTakeFirst();
  return added?.id;
}

export const byId = (query: Query, id: number): Promise<DeviceLoginRow | undefined> =>
  query.selectFrom('device_logins').selectAll().where('id', '=', id).executeTakeFirst();

export const withDevice = (query: Query, device_digest: string): Promise<DeviceLoginRow | undefined> =>
  query.selectFrom('device_logins').selectAll().where('device_digest', '=', device_digest).executeTakeFirst();

/** An undecided login, with what the consent page shows of the game. */
export const openWith = (query: Query, code_digest: string, now: number) =>
  query
    .selectFrom('device_logins as d')
    .innerJoin('games as g', 'g.id', 'd.game_id')
    .leftJoin('oauth_clients as c', 'c.id', 'd.client_id')
    .leftJoin('users as u', 'u.id', 'g.submitted_by')
    .select(['d.id', 'd.game_id', 'd.scopes', 'd.date_added', 'g.name as game', 'g.icon', 'g.status as game_status'])
    .select(['u.username as owner', 'c.name as client', 'c.date_added as client_added'])
    .where('d.code_digest', '=', code_digest)
    .where('d.date_expires', '>', now)
    .where('d.date_decided', 'is', null)
    .where('g.status', '<>', 3)
    .executeTakeFirst();

/** Returns false when another request decided first. */
export async function decide(
  query: Query,
  id: number,
  decision: { user_id: number; date_decided: number; allowed: number },
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('device_logins')
    .set(decision)
    .where('id', '=', id)
    .where('date_decided', 'is', null)
    .where('date_expires', '>', decision.date_decided)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Returns false when another request redeemed it first. */
export async function redeem(query: Query, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('device_logins')
    .set({ date_redeemed: now })
    .where('id', '=', id)
    .where('date_redeemed', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export const setNext = (query: Query, id: number, date_next: number) =>
  query.updateTable('device_logins').set({ date_next }).where('id', '=', id).execute();

export const expire = (query: Query, id: number, now: number) =>
  query
    .updateTable('device_logins')
    .set({ date_expires: now })
    .where('id', '=', id)
    .where('date_decided', 'is', null)
    .execute();

export const forget = (query: Query, before: number) =>
  query.deleteFrom('device_logins').where('date_expires', '<', before).execute();
