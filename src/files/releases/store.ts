import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type { ReleaseGuardsTable, ReleaseNewcomersTable, ReleasesTable } from './table.ts';

export type GuardRow = Selectable<ReleaseGuardsTable>;
export type ReleaseRow = Selectable<ReleasesTable>;
type Reader = Pick<Database, 'first'>;

const GUARD = statement('select * from release_guards where user_id = ?');
export const guardOf = (reader: Reader, userId: number) => reader.first<GuardRow>(GUARD, [userId]);

const GUARD_FOR_CHANGE = withUpdateLock(GUARD);
/** Locks the row, so that concurrent guesses are counted one by one. */
export const guardForChange = (transaction: Transaction, userId: number) =>
  transaction.first<GuardRow>(GUARD_FOR_CHANGE, [userId]);

export const addGuard = (query: Query, row: ReleaseGuardsTable) =>
  query
    .insertInto('release_guards')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute();

export const changeGuard = (query: Query, userId: number, changes: Updateable<ReleaseGuardsTable>) =>
  query.updateTable('release_guards').set(changes).where('user_id', '=', userId).execute();

export const removeGuard = (query: Query, userId: number) =>
  query.deleteFrom('release_guards').where('user_id', '=', userId).execute();

const GUARDIAN = statement(`select n.guardian_id from release_newcomers n
  join release_guards g on g.user_id = n.guardian_id
  where n.user_id = ? and ((n.resource = 'mods' and n.resource_id = ?) or (n.resource = 'games' and n.resource_id = ?))
  order by n.date_added, n.guardian_id limit 1`);
/** The user that confirms for a new member of the mod’s or the game’s team. */
export async function guardianOf(reader: Reader, userId: number, modId: number, gameId: number) {
  return (await reader.first<{ guardian_id: number }>(GUARDIAN, [userId, modId, gameId]))?.guardian_id;
}

export async function putNewcomer(query: Query, row: ReleaseNewcomersTable): Promise<void> {
  await removeNewcomer(query, row.resource, row.resource_id, row.user_id);
  await query.insertInto('release_newcomers').values(row).execute();
}

export const removeNewcomer = (query: Query, resource: string, resourceId: number, userId: number) =>
  query
    .deleteFrom('release_newcomers')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .where('user_id', '=', userId)
    .execute();

const REMOVE_NEWCOMERS = statement('delete from release_newcomers where resource = ? and resource_id = ?');
export const removeNewcomers = (transaction: Transaction, resource: string, resourceId: number) =>
  transaction.run(REMOVE_NEWCOMERS, [resource, resourceId]);

const OF_FILE = statement('select * from releases where user_id = ? and actor_id = ? and modfile_id = ?');
export const releaseOf = (
  transaction: Transaction,
  { userId, actorId, fileId }: { readonly userId: number; readonly actorId: number; readonly fileId: number },
) => transaction.first<ReleaseRow>(OF_FILE, [userId, actorId, fileId]);

export const add = (query: Query, row: Insertable<ReleasesTable>): Promise<ReleaseRow> =>
  query.insertInto('releases').values(row).returningAll().executeTakeFirstOrThrow();

const REMOVE = statement('delete from releases where id = ? returning id');
/** Returns false if another request has removed it. */
export const remove = async (transaction: Transaction, id: number): Promise<boolean> =>
  (await transaction.first(REMOVE, [id])) !== undefined;

const REMOVE_OF_FILE = statement('delete from releases where modfile_id = ?');
export const removeOfFile = (transaction: Transaction, fileId: number) => transaction.run(REMOVE_OF_FILE, [fileId]);

const REMOVE_OF_MOD = statement('delete from releases where mod_id = ?');
export const removeOfMod = (transaction: Transaction, modId: number) => transaction.run(REMOVE_OF_MOD, [modId]);

const REMOVE_OF_USER = statement('delete from releases where user_id = ?');
export const removeOfUser = (transaction: Transaction, userId: number) => transaction.run(REMOVE_OF_USER, [userId]);

export const forget = (query: Query, before: number) =>
  query.deleteFrom('releases').where('date_expires', '<=', before).execute();

export const openOf = (query: Query, userId: number, now: number): Promise<ReleaseRow[]> =>
  query
    .selectFrom('releases')
    .selectAll()
    .where((eb) => eb.or([eb('user_id', '=', userId), eb('actor_id', '=', userId)]))
    .where('date_expires', '>', now)
    .orderBy('id')
    .execute();

const PUT_DIGEST = statement('update releases set digest = ?, date_expires = ? where id = ? and date_expires > ?');
export const putDigest = (
  transaction: Transaction,
  id: number,
  { digest, dateExpires, now }: { readonly digest: string; readonly dateExpires: number; readonly now: number },
) => transaction.run(PUT_DIGEST, [digest, dateExpires, id, now]);

/** A release with the details that its mail shows. */
export interface ReleaseDetails extends ReleaseRow {
  readonly filename: string;
  readonly version: string | null;
  readonly mod: string;
  readonly game: string;
  readonly actor: string;
  readonly email: string | null;
  readonly language: string;
  /** The name of the token’s application, or the one that its owner gave it. */
  readonly token_name: string | null;
  readonly token_added: number | null;
}

const TOLD = `select r.*, f.filename, f.version, m.name as mod, g.name as game, u.email, u.language, a.username as actor,
    coalesce(c.name, t.name) as token_name, t.date_added as token_added
  from releases r join modfiles f on f.id = r.modfile_id and f.status <> 3 join mods m on m.id = r.mod_id
  join games g on g.id = r.game_id join users u on u.id = r.user_id and u.status = 1
  join users a on a.id = r.actor_id
  left join access_tokens t on t.id = r.token_id left join oauth_clients c on c.id = t.client_id
  where r.date_expires > ?`;
const TOLD_BY_ID = statement(`${TOLD} and r.id = ?`);
export const toldById = (reader: Reader, id: number, now: number) =>
  reader.first<ReleaseDetails>(TOLD_BY_ID, [now, id]);

const TOLD_BY_DIGEST = statement(`${TOLD} and r.digest = ?`);
export const toldByDigest = (reader: Reader, digest: string, now: number) =>
  reader.first<ReleaseDetails>(TOLD_BY_DIGEST, [now, digest]);
