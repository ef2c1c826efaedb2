import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock, withUpdateLock } from '../../platform/database/locks.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import type { OauthClientsTable, OauthCodesTable, OauthGrantsTable, OauthRefreshTokensTable } from './table.ts';

export type ClientRow = Selectable<OauthClientsTable>;
export type GrantRow = Selectable<OauthGrantsTable>;
export type CodeRow = Selectable<OauthCodesTable>;
export type RefreshTokenRow = Selectable<OauthRefreshTokensTable>;

export async function add(query: Query, row: Insertable<OauthClientsTable>): Promise<number> {
  return (await query.insertInto('oauth_clients').values(row).returning('id').executeTakeFirstOrThrow()).id;
}

/** A removed client counts as unknown. */
export const clientById = (query: Query, id: number): Promise<ClientRow | undefined> =>
  query
    .selectFrom('oauth_clients')
    .selectAll()
    .where('id', '=', id)
    .where('date_revoked', 'is', null)
    .executeTakeFirst();

export const clientsOf = (query: Query, gameId: number): Promise<ClientRow[]> =>
  query
    .selectFrom('oauth_clients')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('date_revoked', 'is', null)
    .orderBy('id')
    .execute();

/** Locks the game on PostgreSQL, which serialises changes of the game and its clients. */
const HOLD_GAME = withUpdateLock(statement('select status from games where id = ?'));
export const lockGame = (transaction: Transaction, id: number) =>
  transaction.first<{ readonly status: number }>(HOLD_GAME, [id]);

/** Serialises naming, because two games could take one name at the same time. */
export const lockNames = (transaction: Transaction) => takeAdvisoryLock(transaction, 'oauth_clients/names');

export interface NamedRow {
  readonly id: number;
  readonly name: string;
}

export const NAMES_AT_ONCE = 500;
const GAME_NAMES = statement(`select id, name from games where status = 1 and id <> ? and id > ?
  order by id limit ${NAMES_AT_ONCE}`);
/** Accepted games other than this one, in the order of their ids. */
export const gameNames = (transaction: Transaction, exceptId: number, after: number) =>
  transaction.all<NamedRow>(GAME_NAMES, [exceptId, after]);

/** Applications of other accepted games that users see on the consent page. */
export const shownClientNames = (query: Query, exceptGameId: number): Promise<NamedRow[]> =>
  query
    .selectFrom('oauth_clients as c')
    .innerJoin('games as g', 'g.id', 'c.game_id')
    .select(['c.id', 'c.name'])
    .where('g.status', '=', 1)
    .where('g.id', '<>', exceptGameId)
    .where('c.date_revoked', 'is', null)
    .where('c.grants', '<>', 'client_credentials')
    .execute();

export const editClient = (query: Query, id: number, values: Updateable<OauthClientsTable>) =>
  query.updateTable('oauth_clients').set(values).where('id', '=', id).execute();

export const setRedirectUris = (query: Query, id: number, redirect_uris: string) =>
  query.updateTable('oauth_clients').set({ redirect_uris }).where('id', '=', id).execute();

/** The previous secret ends at once. */
export const setSecret = (query: Query, id: number, secret_digest: string) =>
  query
    .updateTable('oauth_clients')
    .set((eb) => ({ secret_digest, previous_digest: '', date_previous_ends: 0, epoch: eb('epoch', '+', 1) }))
    .where('id', '=', id)
    .execute();

/** The previous secret stays valid until then, and the tokens issued with it. */
export const addSecret = (query: Query, id: number, secret_digest: string, date_previous_ends: number) =>
  query
    .updateTable('oauth_clients')
    .set((eb) => ({ secret_digest, previous_digest: eb.ref('secret_digest'), date_previous_ends }))
    .where('id', '=', id)
    .execute();

export const removeClient = (query: Query, id: number, now: number) =>
  query.updateTable('oauth_clients').set({ date_revoked: now }).where('id', '=', id).execute();

/** The game of a client and its owner, as the consent page shows them. */
export const gameShown = (query: Query, id: number) =>
  query
    .selectFrom('games as g')
    .leftJoin('users as u', 'u.id', 'g.submitted_by')
    .select(['g.id', 'g.name', 'g.icon', 'g.status', 'u.username as owner'])
    .where('g.id', '=', id)
    .executeTakeFirst();

export async function addCode(query: Query, row: Insertable<OauthCodesTable>): Promise<void> {
  await query.insertInto('oauth_codes').values(row).execute();
}

export const codeWith = (query: Query, digest: string): Promise<CodeRow | undefined> =>
  query.selectFrom('oauth_codes').selectAll().where('digest', '=', digest).executeTakeFirst();

/** Returns false if another request redeemed or closed it first. */
export async function redeemCode(query: Query, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('oauth_codes')
    .set({ date_redeemed: now })
    .where('id', '=', id)
    .where('date_redeemed', 'is', null)
    .where('date_expires', '>', now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export const setGrantOfCode = (query: Query, id: number, grant_id: number) =>
  query.updateTable('oauth_codes').set({ grant_id }).where('id', '=', id).execute();

export const closeCodesOf = (query: Query, userId: number, now: number) =>
  query
    .updateTable('oauth_codes')
    .set({ date_expires: now })
    .where('user_id', '=', userId)
    .where('date_expires', '>', now)
    .execute();

export async function addGrant(query: Query, row: Insertable<OauthGrantsTable>): Promise<number> {
  return (await query.insertInto('oauth_grants').values(row).returning('id').executeTakeFirstOrThrow()).id;
}

export const grantById = (query: Query, id: number): Promise<GrantRow | undefined> =>
  query.selectFrom('oauth_grants').selectAll().where('id', '=', id).executeTakeFirst();

export const revokeGrants = (
  query: Query,
  column: 'id' | 'user_id' | 'client_id',
  value: number,
  now: number,
): Promise<unknown> =>
  query
    .updateTable('oauth_grants')
    .set({ date_revoked: now })
    .where(column, '=', value)
    .where('date_revoked', 'is', null)
    .execute();

export async function addRefreshToken(query: Query, row: Insertable<OauthRefreshTokensTable>): Promise<void> {
  await query.insertInto('oauth_refresh_tokens').values(row).execute();
}

export const refreshTokenWith = (query: Query, digest: string): Promise<RefreshTokenRow | undefined> =>
  query.selectFrom('oauth_refresh_tokens').selectAll().where('digest', '=', digest).executeTakeFirst();

/** Returns false if another request rotated it first. */
export async function rotateRefreshToken(query: Query, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('oauth_refresh_tokens')
    .set({ date_rotated: now })
    .where('id', '=', id)
    .where('date_rotated', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The columns of an access token that its client may see. */
export const accessTokenWith = (query: Query, digest: string) =>
  query
    .selectFrom('access_tokens')
    .select(['id', 'client_id', 'grant_id', 'date_expires', 'date_revoked'])
    .where('digest', '=', digest)
    .executeTakeFirst();

export const serviceTokenWith = (query: Query, digest: string) =>
  query.selectFrom('service_tokens').select(['id', 'client_id']).where('digest', '=', digest).executeTakeFirst();

const STANDING = statement(`select u.status, u.date_locked, coalesce(e.epoch, 0) as epoch from users u
  left join access_epochs e on e.user_id = u.id where u.id = ?`);

/** The status and epoch that decide whether a user’s grants are valid. */
export const standingOf = (reader: Pick<Database, 'first'>, userId: number) =>
  reader.first<{ status: number; date_locked: number | null; epoch: number }>(STANDING, [userId]);

const OUTDATED_REFRESH_TOKENS = someOf('oauth_refresh_tokens', ['id'], 'date_expires < ?');
const OUTDATED_CODES = someOf('oauth_codes', ['id'], 'date_expires < ? and grant_id is null');
const ENDED = `date_added < ? and id not in (select grant_id from oauth_refresh_tokens)
  and id not in (select grant_id from access_tokens where grant_id is not null)`;
const CODES_OF_ENDED = someOf('oauth_codes', ['id'], `grant_id in (select id from oauth_grants where ${ENDED})`);
const ENDED_GRANTS = someOf('oauth_grants', ['id'], ENDED);

/** Deletes unusable rows. A redeemed code is kept as long as its tokens, so that reuse is detected. */
export async function forget(db: Database, before: number): Promise<void> {
  for (const some of [OUTDATED_REFRESH_TOKENS, OUTDATED_CODES, CODES_OF_ENDED, ENDED_GRANTS])
    await removeInSteps(db, some, [before]);
}

const REMOVE_REFRESH_TOKENS = statement(
  'delete from oauth_refresh_tokens where grant_id in (select id from oauth_grants where user_id = ?)',
);
export const removeRefreshTokensOf = (transaction: Transaction, userId: number) =>
  transaction.run(REMOVE_REFRESH_TOKENS, [userId]);
