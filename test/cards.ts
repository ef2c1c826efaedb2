import { sql } from 'kysely';
import type { Query } from '../src/database/database.ts';

/** What a card repeats of other tables is what they say. Asked at the end of each test file, whatever it has done. */
export async function untrueCards(query: Query): Promise<unknown[]> {
  const { rows } = await sql`select m.id, c.submitted_by, c.name_id, c.needs, c.file_id, c.file_body
    from mods m left join mod_cards c on c.mod_id = m.id
      left join mod_live_files l on l.mod_id = m.id and l.platform = ''
      left join modfile_documents b on b.modfile_id = l.modfile_id
    where c.mod_id is null or c.submitted_by <> m.submitted_by or c.name_id <> m.name_id
      or c.needs <> case when exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 1 else 0 end
      or coalesce(c.file_id, 0) <> coalesce(l.modfile_id, 0) or coalesce(c.file_sha256, '') <> coalesce(b.sha256, '')
      or coalesce(c.file_body, '') <> coalesce(b.body, '')`.execute(query);
  return rows;
}
