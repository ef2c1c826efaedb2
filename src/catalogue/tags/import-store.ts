import { sql } from 'kysely';
import type { Transaction } from '../../platform/database/database.ts';
import { fold } from '../../platform/database/words.ts';

/** Repeats in the tags of imported mods what lists need of the mods and of the tags. */
export async function completeTags({ query }: Transaction, modIds: readonly number[]): Promise<void> {
  await sql`update mod_tags set popularity = m.popularity,
      shown = case when m.status = 1 and m.visible = 1 then 1 else 0 end
    from mods m where m.id = mod_tags.mod_id and m.id in (${sql.join(modIds)})`.execute(query);
  const unnamed = await query
    .selectFrom('mod_tags as t')
    .innerJoin('game_tags as g', 'g.id', 't.tag_id')
    .select(['g.id', 'g.name'])
    .distinct()
    .where('t.mod_id', 'in', modIds)
    .where('t.name_folded', '=', '')
    .execute();
  for (const { id, name } of unnamed)
    await query
      .updateTable('mod_tags')
      .set({ name_folded: fold(name) })
      .where('tag_id', '=', id)
      .where('name_folded', '=', '')
      .execute();
}

/** Counts the pairs of a game's tags on public mods again. */
export async function recountPairs({ query }: Transaction, gameId: number): Promise<void> {
  const tags = sql`select t.id from game_tags t join game_tag_groups g on g.id = t.group_id where g.game_id = ${gameId}`;
  await sql`delete from mod_tag_pairs where tag_id in (${tags})`.execute(query);
  await sql`insert into mod_tag_pairs (tag_id, other_id, mods_count)
    select a.tag_id, b.tag_id, count(*) from mod_tags a join mod_tags b on b.mod_id = a.mod_id and b.tag_id > a.tag_id
    where a.shown = 1 and a.tag_id in (${tags}) and b.tag_id in (${tags}) group by a.tag_id, b.tag_id`.execute(query);
}
