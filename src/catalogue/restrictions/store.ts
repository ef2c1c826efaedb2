import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { USER } from '../../platform/database/people.ts';
import type { GameRestrictionsTable } from './table.ts';

const OPTIONS = statement('select options from game_restrictions where game_id = ? and user_id = ?');
export async function optionsOf(reader: Pick<Database, 'first'>, gameId: number, userId: number): Promise<number> {
  return (await reader.first<{ options: number }>(OPTIONS, [gameId, userId]))?.options ?? 0;
}

const BY_WHOM =
  statement(`select r.options, case when s.level is null then 0 else 1 end as by_operator from game_restrictions r
  left join site_staff s on s.user_id = r.restricted_by where r.game_id = ? and r.user_id = ?`);
/** The restrictions of a user, and whether site staff decided them. */
export async function restrictionBy(reader: Pick<Database, 'first'>, gameId: number, userId: number) {
  const row = await reader.first<{ options: number; by_operator: number }>(BY_WHOM, [gameId, userId]);
  return row ?? { options: 0, by_operator: 0 };
}

const ofGame = (query: Query, gameId: number) =>
  query
    .selectFrom('game_restrictions as r')
    .innerJoin('users as u', 'u.id', 'r.user_id')
    .where('r.game_id', '=', gameId)
    .where('u.status', '<>', 3);

const shown = (query: Query, gameId: number) =>
  ofGame(query, gameId).select(['r.options', 'r.reason', 'r.restricted_by', 'r.date_added']).select(USER);

export type RestrictionRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function list(query: Query, gameId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(ofGame(query, gameId), listing, request)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(narrowed(shown(query, gameId), listing, request), listing, request).execute();
  return { rows, total: Number(total) };
}

export const restriction = (query: Query, gameId: number, userId: number) =>
  shown(query, gameId).where('r.user_id', '=', userId).executeTakeFirst();

export const put = (query: Query, row: Omit<GameRestrictionsTable, 'id'>) =>
  query
    .insertInto('game_restrictions')
    .values(row)
    .onConflict((key) => key.columns(['game_id', 'user_id']).doUpdateSet(row))
    .execute();

export const remove = (query: Query, gameId: number, userId: number) =>
  query.deleteFrom('game_restrictions').where('game_id', '=', gameId).where('user_id', '=', userId).execute();

const ADD_OPTIONS = statement(`update game_restrictions set options = options | (select o.options
    from game_restrictions o where o.game_id = game_restrictions.game_id and o.user_id = ?)
  where user_id = ? and exists (select 1 from game_restrictions o
    where o.game_id = game_restrictions.game_id and o.user_id = ?)`);
/** When two restricted accounts merge, the remaining one has the restrictions of both. */
export const addOptionsOf = (transaction: Transaction, from: number, to: number) =>
  transaction.run(ADD_OPTIONS, [from, to, from]);
