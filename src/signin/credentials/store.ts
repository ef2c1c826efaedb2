import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';

/** Active tokens with the clients that use them. */
export const tokensOf = (query: Query, userId: number, now: number) =>
  query
    .selectFrom('access_tokens as t')
    .leftJoin('oauth_clients as c', 'c.id', 't.client_id')
    .select(['t.id', 't.name', 't.scopes', 't.game_id', 't.client_id', 'c.name as client_name'])
    .select(['t.date_added', 't.date_expires'])
    .where('t.user_id', '=', userId)
    .where('t.date_revoked', 'is', null)
    .where('t.date_expires', '>', now)
    .orderBy('t.id')
    .execute();

export const tokenById = (query: Query, id: number) =>
  query
    .selectFrom('access_tokens')
    .select(['id', 'user_id', 'grant_id', 'date_revoked'])
    .where('id', '=', id)
    .executeTakeFirst();

export const tokensHeldBy = (query: Query, userId: number, now: number): Promise<{ count: number }> =>
  query
    .selectFrom('access_tokens')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where('name', 'is not', null)
    .where('date_revoked', 'is', null)
    .where('date_expires', '>', now)
    .executeTakeFirstOrThrow();

export const keyOfUser = (query: Query, userId: number) =>
  query
    .selectFrom('api_keys')
    .select('date_added')
    .where('user_id', '=', userId)
    .where('date_revoked', 'is', null)
    .executeTakeFirst();

/** Locks the user, so that concurrent changes of their credentials wait for this transaction. */
const LOCK = withUpdateLock(statement('select id from users where id = ?'));
export const lockUserRow = (transaction: Transaction, userId: number) => transaction.first(LOCK, [userId]);
