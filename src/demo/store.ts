import { sql } from 'kysely';
import type { Database, Query } from '../platform/database/database.ts';

/** A tag with its English name, by which translations find it. */
export interface NamedTag {
  readonly id: number;
  readonly name: string;
}

export async function hasGames(query: Query): Promise<boolean> {
  return (await query.selectFrom('games').select('id').limit(1).executeTakeFirst()) !== undefined;
}

export const tagGroupsOf = (query: Query, gameId: number): Promise<NamedTag[]> =>
  query.selectFrom('game_tag_groups').select(['id', 'name']).where('game_id', '=', gameId).orderBy('id').execute();

export const tagsOf = (query: Query, gameId: number): Promise<NamedTag[]> =>
  query
    .selectFrom('game_tags as t')
    .innerJoin('game_tag_groups as g', 'g.id', 't.group_id')
    .select(['t.id', 't.name'])
    .where('g.game_id', '=', gameId)
    .orderBy('t.id')
    .execute();

export async function publicModsOf(query: Query, gameId: number): Promise<number> {
  const stats = query.selectFrom('game_stats').select('mods_count_total').where('game_id', '=', gameId);
  return (await stats.executeTakeFirstOrThrow()).mods_count_total;
}

/** The public mods of a game, the most popular first. */
export const popularModsOf = (query: Query, gameId: number): Promise<{ id: number; submitted_by: number }[]> =>
  query
    .selectFrom('mods')
    .select(['id', 'submitted_by'])
    .where('game_id', '=', gameId)
    .where('status', '=', 1)
    .where('visible', '=', 1)
    .orderBy('popularity', 'desc')
    .orderBy('id')
    .execute();

/** PostgreSQL needs new statistics after a bulk insert. It notices a small one by itself. */
export async function analyse(query: Query, dialect: Database['dialect']): Promise<void> {
  if (dialect === 'postgres') await sql`analyze`.execute(query);
}
