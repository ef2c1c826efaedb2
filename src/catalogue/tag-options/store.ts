import { type Selectable, sql } from 'kysely';
import type { Query, Transaction } from '../../platform/database/database.ts';
import { isLiveOn } from '../../platform/database/platforms.ts';
import type { GameTagGroupsTable, GameTagsTable } from './table.ts';

export type Tag = Selectable<GameTagsTable>;
export type TagGroup = Selectable<GameTagGroupsTable> & { tags: Tag[] };

export async function tagGroupsOf(query: Query, gameId: number): Promise<TagGroup[]> {
  const groups = await query
    .selectFrom('game_tag_groups')
    .selectAll()
    .where('game_id', '=', gameId)
    .orderBy('position')
    .orderBy('id')
    .execute();
  const tags = await query
    .selectFrom('game_tags as t')
    .innerJoin('game_tag_groups as g', 'g.id', 't.group_id')
    .selectAll('t')
    .where('g.game_id', '=', gameId)
    .orderBy('t.position')
    .orderBy('t.id')
    .execute();
  return groups.map((group) => ({ ...group, tags: tags.filter((tag) => tag.group_id === group.id) }));
}

export interface NewTagGroup {
  readonly name: string;
  readonly type: 'checkboxes' | 'dropdown';
  readonly hidden?: boolean;
  readonly locked?: boolean;
  readonly tags: readonly string[];
  /** The platforms on which players may filter by its tags; all by default. */
  readonly platforms?: readonly string[] | undefined;
}

type Settings = Pick<NewTagGroup, 'type' | 'hidden' | 'locked' | 'platforms'>;
const columnsOf = ({ type, hidden, locked, platforms = [] }: Settings) => ({
  type,
  hidden: hidden ? 1 : 0,
  locked: locked ? 1 : 0,
  platforms: platforms.join(','),
});

export async function addTagGroup(
  query: Query,
  gameId: number,
  position: number,
  group: NewTagGroup,
): Promise<TagGroup> {
  const row = await query
    .insertInto('game_tag_groups')
    .values({ game_id: gameId, name: group.name, position, ...columnsOf(group) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, tags: await addTags(query, row.id, 0, group.tags) };
}

/** The games among these that have per-platform support. */
export async function withPlatforms(query: Query, gameIds: readonly number[]): Promise<number[]> {
  if (gameIds.length === 0) return [];
  const rows = query.selectFrom('game_platforms').select('game_id').distinct().where('game_id', 'in', gameIds);
  return (await rows.execute()).map(({ game_id }) => game_id);
}

/** Counts the public mods that are live on the platform, by game and name of the tag. */
export async function countsOn(
  query: Query,
  gameIds: readonly number[],
  platform: string,
): Promise<Map<number, Map<string, number>>> {
  const rows = await query
    .selectFrom('mod_tags as x')
    .innerJoin('mods as m', 'm.id', 'x.mod_id')
    .innerJoin('game_tags as t', 't.id', 'x.tag_id')
    .select(['m.game_id', 't.name', sql<number>`count(*)`.as('mods')])
    .where('m.game_id', 'in', gameIds)
    .where('x.shown', '=', 1)
    .where(isLiveOn(platform))
    .groupBy(['m.game_id', 't.name'])
    .execute();
  const counts = new Map(gameIds.map((id) => [id, new Map<string, number>()]));
  for (const { game_id, name, mods } of rows) counts.get(game_id)!.set(name, Number(mods));
  return counts;
}

export const changeTagGroup = (query: Query, id: number, settings: Settings) =>
  query.updateTable('game_tag_groups').set(columnsOf(settings)).where('id', '=', id).execute();

export async function addTags(
  query: Query,
  groupId: number,
  position: number,
  names: readonly string[],
): Promise<Tag[]> {
  const rows = names.map((name, index) => ({ group_id: groupId, name, position: position + index, mods_count: 0 }));
  return rows.length > 0 ? query.insertInto('game_tags').values(rows).returningAll().execute() : [];
}

export async function removeTags(query: Query, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await query.deleteFrom('game_tags').where('id', 'in', ids).execute();
}

export const removeTagGroup = (query: Query, id: number) =>
  query.deleteFrom('game_tag_groups').where('id', '=', id).execute();

export const renameTag = (query: Query, id: number, name: string) =>
  query.updateTable('game_tags').set({ name }).where('id', '=', id).execute();

export async function addToCounts(query: Query, ids: readonly number[], difference: number): Promise<void> {
  if (ids.length === 0) return;
  await query
    .updateTable('game_tags')
    .set((eb) => ({ mods_count: eb('mods_count', '+', difference) }))
    .where('id', 'in', ids)
    .execute();
}

export const tagsById = (query: Query, ids: readonly number[]) =>
  query.selectFrom('game_tags').select(['id', 'name']).where('id', 'in', ids).execute();

/** Counts the public mods of each tag of a game again. */
export async function recountTags({ query }: Pick<Transaction, 'query'>, gameId: number): Promise<void> {
  await sql`update game_tags set mods_count = (select count(*) from mod_tags x where x.tag_id = game_tags.id and x.shown = 1)
    where group_id in (select id from game_tag_groups where game_id = ${gameId})`.execute(query);
}
