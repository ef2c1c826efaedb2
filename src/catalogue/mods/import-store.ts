import { sql } from 'kysely';
import type { Transaction } from '../../platform/database/database.ts';
import { withTexts } from './stats-store.ts';

/** Gives imported mods their row of stats if they have none, and repeats what lists sort by in the mods. */
export async function completeStats({ query }: Transaction, ids: readonly number[]): Promise<void> {
  await sql`insert into mod_stats (mod_id, popularity_rank_position, popularity_rank_total_mods, downloads_today,
      downloads_total, subscribers_total, ratings_total, ratings_positive, ratings_negative,
      ratings_percentage_positive, ratings_weighted_aggregate, ratings_display_text, date_expires)
    select m.id, 0, 0, m.downloads_today, m.downloads_total, m.subscribers_total, 0, 0, 0, 0,
      m.ratings_weighted_aggregate, 'Unrated', 0 from mods m
    where m.id in (${sql.join(ids)}) and not exists (select 1 from mod_stats s where s.mod_id = m.id)`.execute(query);
  await sql`update mods set downloads_today = s.downloads_today, downloads_total = s.downloads_total,
      subscribers_total = s.subscribers_total, ratings_weighted_aggregate = s.ratings_weighted_aggregate
    from mod_stats s where s.mod_id = mods.id and mods.id in (${sql.join(ids)})`.execute(query);
  const rows = await query.selectFrom('mod_stats').selectAll().where('mod_id', 'in', ids).execute();
  for (const row of rows) {
    const { ranked, counted } = withTexts(row);
    if (ranked !== row.ranked || counted !== row.counted)
      await query.updateTable('mod_stats').set({ ranked, counted }).where('mod_id', '=', row.mod_id).execute();
  }
}

/** Those of the mods that the search knows. */
export async function searchable({ query }: Transaction, ids: readonly number[]): Promise<Set<number>> {
  const rows = await query.selectFrom('mod_words').select('mod_id').distinct().where('mod_id', 'in', ids).execute();
  return new Set(rows.map(({ mod_id }) => mod_id));
}
