import { type Database, statement, type Transaction } from '../../platform/database/database.ts';

type Reader = Pick<Database, 'first' | 'all'>;
/** Texts by field. */
export type Snapshot = Readonly<Record<string, string>>;

const FILES_OF_MOD = `(select string_agg(f.filename || ' ' || coalesce(f.version, '') || ' #' || f.id, ', ' order by f.id) from modfiles f
  where f.id in (select l.modfile_id from mod_live_files l where l.mod_id = x.id))`;
const TAGS_OF_MOD = `(select string_agg(t.name_folded, ', ' order by t.name_folded) from mod_tags t where t.mod_id = x.id)`;
const MODS_OF_COLLECTION = `(select string_agg(m.name, ', ' order by c.place, m.id) from collection_mods c
  join mods m on m.id = c.mod_id where c.collection_id = x.id)`;

const CONTENT: Readonly<Record<string, ReturnType<typeof statement>>> = {
  mods: statement(`select name, summary, description, homepage_url, cast(maturity_option as text) as maturity_option,
    logo, metadata_blob, ${TAGS_OF_MOD} as tags, ${FILES_OF_MOD} as files from mods x where x.id = ?`),
  guides: statement('select name, summary, description, logo from guides x where x.id = ?'),
  collections: statement(`select name, summary, description, logo, tags, ${MODS_OF_COLLECTION} as mods
    from collections x where x.id = ?`),
};

/** The content as it is now. Nothing for comments, which end with their text. */
export async function contentNow(reader: Reader, resource: string, id: number): Promise<Snapshot | undefined> {
  const query = CONTENT[resource];
  const row = query && (await reader.first<Record<string, string | null>>(query, [id]));
  return row && Object.fromEntries(Object.entries(row).map(([field, text]) => [field, text ?? '']));
}

const LAST = statement(`select s.fields, d.action, d.date_added from moderation_decisions d
  join moderation_snapshots s on s.decision_id = d.id where d.resource = ? and d.resource_id = ?
  order by d.id desc limit 1`);
/** The content at the last decision. */
export async function lastSnapshot(reader: Reader, resource: string, id: number) {
  type Row = { fields: string; action: string; date_added: number };
  const row = await reader.first<Row>(LAST, [resource, id]);
  return row && { ...row, fields: JSON.parse(row.fields) as Snapshot };
}

const ADD = statement('insert into moderation_snapshots (decision_id, author_id, fields) values (?, ?, ?)');
const OLDER = statement(`delete from moderation_snapshots where decision_id in (select id from moderation_decisions
  where resource = ? and resource_id = ? order by id desc limit 100 offset 2)`);
/** Keeps the last two, because the last decision can be undone. */
export async function addSnapshot(
  transaction: Transaction,
  decisionId: number,
  { resource, id, authorId }: { readonly resource: string; readonly id: number; readonly authorId: number },
): Promise<void> {
  const fields = await contentNow(transaction, resource, id);
  if (!fields) return;
  await transaction.run(ADD, [decisionId, authorId, JSON.stringify(fields)]);
  await transaction.run(OLDER, [resource, id]);
}

const REMOVE = statement(`delete from moderation_snapshots where decision_id in
  (select id from moderation_decisions where resource = ? and resource_id = ?)`);
/** Nothing of the text stays when the content is removed for good. */
export const removeSnapshots = (transaction: Transaction, resource: string, id: number) =>
  transaction.run(REMOVE, [resource, id]);
