import { type Insertable, type Selectable, sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import type { PermissionReviewsTable } from './table.ts';

export type ReviewRow = Selectable<PermissionReviewsTable>;

/** Serialises requests and decisions of the reviews of a game. */
export const lock = (transaction: Transaction, gameId: number) => takeAdvisoryLock(transaction, `reviews/${gameId}`);

const IS_REVIEWING = statement('select game_id from reviewing_games where game_id = ?');
export const isReviewing = async (reader: Pick<Database, 'first'>, gameId: number): Promise<boolean> =>
  (await reader.first(IS_REVIEWING, [gameId])) !== undefined;

export const startReviewing = (query: Query, gameId: number, now: number) =>
  query
    .insertInto('reviewing_games')
    .values({ game_id: gameId, date_added: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();

export const stopReviewing = (query: Query, gameId: number) =>
  query.deleteFrom('reviewing_games').where('game_id', '=', gameId).execute();

const open = (query: Query, gameId: number, now: number) =>
  query
    .selectFrom('permission_reviews')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('date_expires', '>', now)
    .where('date_used', 'is', null)
    .orderBy('id', 'desc');

export const openOf = (query: Query, gameId: number, now: number): Promise<ReviewRow[]> =>
  open(query, gameId, now).execute();

export const openById = (query: Query, gameId: number, id: number, now: number) =>
  open(query, gameId, now).where('id', '=', id).executeTakeFirst();

/** The latest review of the same change by the same user. */
export const latestOf = (query: Query, { gameId, userId, change }: Requested, now: number) =>
  open(query, gameId, now).where('requested_by', '=', userId).where('change', '=', change).limit(1).executeTakeFirst();

export interface Requested {
  readonly gameId: number;
  readonly userId: number;
  readonly change: string;
}

export const add = (query: Query, row: Insertable<PermissionReviewsTable>) =>
  query.insertInto('permission_reviews').values(row).returning('id').executeTakeFirstOrThrow();

export const decide = (query: Query, id: number, decision: { approved: number; decided_by: number }) =>
  query.updateTable('permission_reviews').set(decision).where('id', '=', id).execute();

export const use = (query: Query, id: number, now: number) =>
  query.updateTable('permission_reviews').set({ date_used: now }).where('id', '=', id).execute();

export const removeBefore = (query: Query, before: number) =>
  query.deleteFrom('permission_reviews').where('date_expires', '<', before).execute();

export async function administratorsOf(query: Query, gameId: number, level: number): Promise<number> {
  const { total } = await query
    .selectFrom('team_members')
    .select(sql<number>`count(*)`.as('total'))
    .where('resource', '=', 'games')
    .where('resource_id', '=', gameId)
    .where('level', '>=', level)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** The recipients of a review's mail: the other administrators with an address, while it is undecided. */
export const recipientsOf = (query: Query, id: number, level: number, now: number) =>
  query
    .selectFrom('permission_reviews as r')
    .innerJoin('games as g', 'g.id', 'r.game_id')
    .innerJoin('team_members as m', (join) =>
      join.onRef('m.resource_id', '=', 'r.game_id').on('m.resource', '=', 'games').on('m.level', '>=', level),
    )
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .innerJoin('users as a', 'a.id', 'r.requested_by')
    .select(['u.id as user_id', 'u.email', 'u.language', 'g.name as game', 'a.username as requester', 'r.game_id'])
    .where('r.id', '=', id)
    .where('r.approved', 'is', null)
    .where('r.date_expires', '>', now)
    .whereRef('m.user_id', '<>', 'r.requested_by')
    .where('u.email', 'is not', null)
    .execute();
