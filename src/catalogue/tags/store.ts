import type { Insertable } from 'kysely';
import { updateMany } from '../../platform/database/bulk.ts';
import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { GameTagRenamesTable, ModTagsTable } from './table.ts';

export async function removePairs(query: Query, tagIds: readonly number[]): Promise<void> {
  if (tagIds.length === 0) return;
  await query.deleteFrom('mod_tag_pairs').where('tag_id', 'in', tagIds).execute();
  await query.deleteFrom('mod_tag_pairs').where('other_id', 'in', tagIds).execute();
}

/** The number of public mods that have both tags. */
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

const RANK_TAGS = updateMany('mod_tags', { key: 'mod_id', columns: { popularity: 'double precision' } });
export const rankTags = (transaction: Transaction, mods: readonly { id: number; popularity: number }[]) =>
  transaction.run(RANK_TAGS, [JSON.stringify(mods)]);

export const renameOf = (query: Query, gameId: number) =>
  query.selectFrom('game_tag_renames').selectAll().where('game_id', '=', gameId).executeTakeFirst();

export const addRename = (query: Query, rename: Insertable<GameTagRenamesTable>) =>
  query.insertInto('game_tag_renames').values(rename).execute();

export const removeRename = (query: Query, { game_id, tag_id }: Pick<GameTagRenamesTable, 'game_id' | 'tag_id'>) =>
  query.deleteFrom('game_tag_renames').where('game_id', '=', game_id).where('tag_id', '=', tag_id).execute();

/** A tag on a mod, with the settings of its group. */
export interface ModTag {
  id: number;
  group_id: number;
  name: string;
  hidden: number;
  locked: number;
  date_added: number;
}

/** Without tags that the game has removed: a job removes their rows later. */
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

export const untagMod = (query: Query, modId: number) =>
  query.deleteFrom('mod_tags').where('mod_id', '=', modId).execute();
