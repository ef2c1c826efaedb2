import { type Insertable, type Selectable, sql } from 'kysely';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { ServerTokensTable } from './table.ts';

export type ServerTokenRow = Selectable<ServerTokensTable>;

/** The tokens that can still be used. */
export const tokensOf = (query: Query, gameId: number, now: number): Promise<ServerTokenRow[]> =>
  query
    .selectFrom('server_tokens')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('date_revoked', 'is', null)
    .where('date_expires', '>', now)
    .orderBy('id')
    .execute();

export async function modsOf(query: Query, tokenIds: readonly number[]): Promise<Map<number, number[]>> {
  if (tokenIds.length === 0) return new Map();
  const rows = await query
    .selectFrom('server_token_mods')
    .selectAll()
    .where('token_id', 'in', tokenIds)
    .orderBy('mod_id')
    .execute();
  const mods = new Map<number, number[]>();
  for (const { token_id, mod_id } of rows) mods.set(token_id, [...(mods.get(token_id) ?? []), mod_id]);
  return mods;
}

export const add = (query: Query, row: Insertable<ServerTokensTable>): Promise<ServerTokenRow> =>
  query.insertInto('server_tokens').values(row).returningAll().executeTakeFirstOrThrow();

export async function addMods(query: Query, tokenId: number, modIds: readonly number[]): Promise<void> {
  if (modIds.length === 0) return;
  await query
    .insertInto('server_token_mods')
    .values(modIds.map((mod_id) => ({ token_id: tokenId, mod_id })))
    .execute();
}

const BY_ID = statement('select * from server_tokens where id = ?');
export const byId = (transaction: Transaction, id: number) => transaction.first<ServerTokenRow>(BY_ID, [id]);

/** Returns false if the token was revoked before. */
export async function revoke(query: Query, id: number, now: number): Promise<boolean> {
  const row = await query
    .updateTable('server_tokens')
    .set({ date_revoked: now })
    .where('id', '=', id)
    .where('date_revoked', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export const revokeOfGame = (query: Query, gameId: number, now: number) =>
  query
    .updateTable('server_tokens')
    .set({ date_revoked: now })
    .where('game_id', '=', gameId)
    .where('date_revoked', 'is', null)
    .execute();

export const removeEnded = (query: Query, before: number) =>
  query
    .deleteFrom('server_tokens')
    .where((eb) => eb.or([eb('date_expires', '<', before), eb('date_revoked', '<', before)]))
    .execute();

export async function modsOfGameAmong(query: Query, gameId: number, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`select m.id from mods m where m.id in (${sql.join(ids)})
    and m.game_id = ${gameId} and m.status <> 3`.execute(query);
  return new Set(rows.map(({ id }) => id));
}

export async function hasCollection(query: Query, gameId: number, id: number): Promise<boolean> {
  const { rows } = await sql`select c.id from collections c where c.id = ${id} and c.game_id = ${gameId}
    and c.status <> 3`.execute(query);
  return rows.length > 0;
}

export async function isAnonymous(query: Query, gameId: number): Promise<boolean> {
  const settings = query.selectFrom('game_server_settings').select('anonymous_access').where('game_id', '=', gameId);
  return (await settings.executeTakeFirst())?.anonymous_access === 1;
}

export const putSettings = (query: Query, game_id: number, anonymous_access: number) =>
  query
    .insertInto('game_server_settings')
    .values({ game_id, anonymous_access })
    .onConflict((conflict) => conflict.column('game_id').doUpdateSet({ anonymous_access }))
    .execute();
