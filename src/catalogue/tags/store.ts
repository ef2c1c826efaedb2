import { type Insertable, type Selectable, sql } from 'kysely';
import { type Bulk, insertMany } from '../../platform/database/bulk.ts';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { isLiveOn } from '../../platform/database/platforms.ts';
import type { GameTagGroupsTable, GameTagRenamesTable, GameTagsTable, ModTagsTable } from './table.ts';

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
  /** On which players may filter by its tags; all unless given. */
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

/** Those of the games that have per-platform support. */
export async function withPlatforms(query: Query, gameIds: readonly number[]): Promise<number[]> {
  if (gameIds.length === 0) return [];
  const rows = query.selectFrom('game_platforms').select('game_id').distinct().where('game_id', 'in', gameIds);
  return (await rows.execute()).map(({ game_id }) => game_id);
}

/** By game and name of the tag, how many public mods have it that are live on the platform. */
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
  if (ids.length === 0) return;
  await query.deleteFrom('game_tags').where('id', 'in', ids).execute();
  await query.deleteFrom('mod_tag_pairs').where('tag_id', 'in', ids).execute();
  await query.deleteFrom('mod_tag_pairs').where('other_id', 'in', ids).execute();
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

/** How many public mods have two tags together. */
export async function addToPairs(query: Query, pairs: readonly (readonly [number, number])[], difference: number) {
  if (pairs.length === 0) return;
  const rows = pairs.map(([tag_id, other_id]) => ({ tag_id, other_id, mods_count: difference }));
  await query
    .insertInto('mod_tag_pairs')
    .values(rows)
    .onConflict((key) =>
      key
        .columns(['tag_id', 'other_id'])
        .doUpdateSet((eb) => ({ mods_count: eb('mod_tag_pairs.mods_count', '+', eb.ref('excluded.mods_count')) })),
    )
    .execute();
}

const SHOW_TAGS = statement('update mod_tags set shown = ? where mod_id = ?');
export const showTagsOfMod = (transaction: Transaction, modId: number, shown: boolean) =>
  transaction.run(SHOW_TAGS, [Number(shown), modId]);

const RANK_TAGS = statement('update mod_tags set popularity = ? where mod_id = ? and popularity <> ?');
export const rankTagsOfMod = (transaction: Transaction, modId: number, popularity: number) =>
  transaction.run(RANK_TAGS, [popularity, modId, popularity]);

export const renameOf = (query: Query, gameId: number) =>
  query.selectFrom('game_tag_renames').selectAll().where('game_id', '=', gameId).executeTakeFirst();

export const addRename = (query: Query, rename: Insertable<GameTagRenamesTable>) =>
  query.insertInto('game_tag_renames').values(rename).execute();

export const removeRename = (query: Query, { game_id, tag_id }: Pick<GameTagRenamesTable, 'game_id' | 'tag_id'>) =>
  query.deleteFrom('game_tag_renames').where('game_id', '=', game_id).where('tag_id', '=', tag_id).execute();

/** A tag on a mod, with what its group says of it. */
export interface ModTag extends Pick<Tag, 'id' | 'group_id' | 'name'> {
  hidden: number;
  locked: number;
  date_added: number;
}

/** A tag that the game no longer has is none, though its row may wait to be removed. */
const TAGS_OF_MOD = statement(`select t.id, t.group_id, t.name, g.hidden, g.locked, x.date_added
  from mod_tags x join game_tags t on t.id = x.tag_id join game_tag_groups g on g.id = t.group_id
  where x.mod_id = ? order by t.id`);
export const tagsOfMod = (transaction: Transaction, modId: number) => transaction.all<ModTag>(TAGS_OF_MOD, [modId]);

export async function listTagsOfMod(
  query: Query,
  modId: number,
  hidden: boolean,
  listing: Listing,
  request: ListRequest,
): Promise<{ tags: Pick<ModTag, 'id' | 'name' | 'date_added'>[]; total: number }> {
  const wanted = () => {
    const tags = query
      .selectFrom('mod_tags as x')
      .innerJoin('game_tags as t', 't.id', 'x.tag_id')
      .innerJoin('game_tag_groups as g', 'g.id', 't.group_id')
      .where('x.mod_id', '=', modId);
    return narrowed(hidden ? tags : tags.where('g.hidden', '=', 0), listing, request);
  };
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const tags = await paged(wanted().select(['t.id', 't.name', 'x.date_added']), listing, request).execute();
  return { tags, total: Number(total) };
}

export async function tagMod(query: Query, rows: readonly ModTagsTable[]): Promise<void> {
  if (rows.length > 0) await query.insertInto('mod_tags').values(rows).execute();
}

export async function untagMods(query: Query, modIds: readonly number[], tagIds: readonly number[]): Promise<void> {
  if (modIds.length > 0 && tagIds.length > 0)
    await query.deleteFrom('mod_tags').where('mod_id', 'in', modIds).where('tag_id', 'in', tagIds).execute();
}

export const putFolded = (query: Query, modIds: readonly number[], tagId: number, name_folded: string) =>
  query
    .updateTable('mod_tags')
    .set({ name_folded })
    .where('mod_id', 'in', modIds)
    .where('tag_id', '=', tagId)
    .execute();

export const modsWith = (query: Query, tagIds: readonly number[], afterId: number, most: number) =>
  query
    .selectFrom('mod_tags as x')
    .innerJoin('mods as m', 'm.id', 'x.mod_id')
    .select(['m.id', 'm.game_id'])
    .distinct()
    .where('x.tag_id', 'in', tagIds)
    .where('m.id', '>', afterId)
    .orderBy('m.id')
    .limit(most)
    .execute();

export const tagsById = (query: Query, ids: readonly number[]) =>
  query.selectFrom('game_tags').select(['id', 'name']).where('id', 'in', ids).execute();

export const untagMod = (query: Query, modId: number) =>
  query.deleteFrom('mod_tags').where('mod_id', '=', modId).execute();

export const tagMany = (bulk: Bulk, rows: readonly ModTagsTable[]) => insertMany(bulk, 'mod_tags', rows);
