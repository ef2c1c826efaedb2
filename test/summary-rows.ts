import { sql } from 'kysely';
import type { Database, Query } from '../src/platform/database/database.ts';

/** Denormalised texts that differ from their source columns. Checked at the end of each test file. */
export async function staleSummaryRows({ query, dialect }: Pick<Database, 'query' | 'dialect'>): Promise<unknown[]> {
  const stale = [await staleMods(query), await staleRanks(query)];
  if (dialect === 'sqlite') stale.push(await staleUsers(query));
  return stale.flat();
}

async function staleMods(query: Query): Promise<unknown[]> {
  const { rows } = await sql`select m.id, c.submitted_by, c.name_id, c.needs, c.file_id, c.file_body
    from mods m left join mod_cards c on c.mod_id = m.id
      left join mod_live_files l on l.mod_id = m.id and l.platform = ''
      left join modfile_documents b on b.modfile_id = l.modfile_id
    where c.mod_id is null or c.game_id <> m.game_id or c.status <> m.status or c.visible <> m.visible
      or c.submitted_by <> m.submitted_by or c.name_id <> m.name_id
      or c.needs <> case when exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 1 else 0 end
      or coalesce(c.file_id, 0) <> coalesce(l.modfile_id, 0) or coalesce(c.file_link, '')
        <> case when b.body is null then '' else concat(m.id, '/files/', l.modfile_id, '/download/', substr(b.sha256, 1, 43)) end
      or coalesce(c.file_body, '') <> coalesce(b.body, '')`.execute(query);
  return rows;
}

async function staleRanks(query: Query): Promise<unknown[]> {
  const { rows } = await sql`select s.mod_id, s.ranked from mod_stats s
    where s.ranked <> concat('"popularity_rank_position":', s.popularity_rank_position,
      ',"popularity_rank_total_mods":', s.popularity_rank_total_mods, ',"date_expires":', s.date_expires)`.execute(
    query,
  );
  return rows;
}

async function staleUsers(query: Query): Promise<unknown[]> {
  const { rows } = await sql`select u.id, c.before_avatar, c.behind_avatar
    from users u full join user_cards c on c.id = u.id
    where u.id is null or c.id is null or c.name_id <> u.name_id or c.avatar is not u.avatar
      or json(concat(c.before_avatar, 'null', c.behind_avatar, '"}')) <> json_object('id', u.id, 'name_id', u.name_id,
        'username', u.username, 'display_name_portal', null, 'date_online', u.date_online, 'date_joined', u.date_joined,
        'avatar', null, 'timezone', u.timezone, 'language', u.language, 'profile_url', '')`.execute(query);
  return rows;
}
