import type { Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import { type Database, type Query, statement } from '../../database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../database/listing.ts';
import type {
  GameDocumentsTable,
  GamePlatformsTable,
  GameStatsTable,
  GamesTable,
  GameTagGroupsTable,
  GameTagsTable,
} from './table.ts';

export type GameRow = Selectable<GamesTable>;
export type StatsRow = GameStatsTable;

/** A game's document with what is put behind it. */
export interface StoredGame extends Omit<GameStatsTable, 'game_id'> {
  id: number;
  status: number;
  submitted_by: number;
  body: string;
  tags: string;
}

const STATS = `s.mods_count_total, s.mods_downloads_today, s.mods_downloads_total, s.mods_downloads_daily_average,
  s.mods_subscribers_total, s.date_expires`;

const documentWith = (tags: string) =>
  statement(`select g.id, g.status, g.submitted_by, d.body, d.${tags} as tags, ${STATS}
    from games g join game_documents d on d.game_id = g.id and d.language in (?, 'en') join game_stats s on s.game_id = g.id
    where g.id = ? order by d.language = 'en' limit 1`);

const DOCUMENT = documentWith('tags');
const DOCUMENT_WITH_HIDDEN = documentWith('tags_with_hidden');

export const documentOf = (db: Database, id: number, language: string, hiddenTags: boolean) =>
  db.first<StoredGame>(hiddenTags ? DOCUMENT_WITH_HIDDEN : DOCUMENT, [language, id]);

const BY_ID = statement('select * from games where id = ?');
export const byId = (db: Database, id: number) => db.first<GameRow>(BY_ID, [id]);

export const rowIn = (query: Query, id: number) =>
  query.selectFrom('games').selectAll().where('id', '=', id).executeTakeFirst();

/** Which games a caller may see in lists. */
export interface Visible {
  readonly everything: boolean;
  readonly gameId: number | undefined;
  readonly memberId: number | undefined;
  /** Only games of the member's own teams. */
  readonly ownOnly: boolean;
}

function visibleTo(query: Query, visible: Visible) {
  const games = query.selectFrom('games as g');
  const mine = sql<boolean>`g.id in (select m.resource_id from team_members m where m.resource = 'games' and m.user_id = ${visible.memberId ?? 0})`;
  if (visible.ownOnly) return games.where(mine).where('g.status', '<>', 3);
  if (visible.everything) return games.where('g.status', '<>', 3);
  return games.where((eb) => {
    const seen = [eb('g.status', '=', 1)];
    if (visible.gameId !== undefined) seen.push(eb.and([eb('g.id', '=', visible.gameId), eb('g.status', '<>', 3)]));
    if (visible.memberId !== undefined) seen.push(eb.and([mine, eb('g.status', '<>', 3)]));
    return eb.or(seen);
  });
}

export async function list(
  query: Query,
  visible: Visible,
  listing: Listing,
  request: ListRequest,
  language: string,
  hiddenTags: boolean,
): Promise<{ games: StoredGame[]; total: number }> {
  const wanted = () =>
    narrowed(visibleTo(query, visible).innerJoin('game_stats as s', 's.game_id', 'g.id'), listing, request);
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const page = paged(wanted().select('g.id'), listing, request);
  const ids = total > request.offset ? (await page.execute()).map((row) => row.id) : [];
  const documents =
    ids.length > 0 ? await documentsOf(query, ids, language, hiddenTags) : new Map<number, StoredGame>();
  return { games: ids.flatMap((id) => documents.get(id) ?? []), total: Number(total) };
}

/** The documents of these games, in the language where there is one and in English otherwise. */
async function documentsOf(
  query: Query,
  ids: readonly number[],
  language: string,
  hiddenTags: boolean,
): Promise<Map<number, StoredGame>> {
  const rows = await query
    .selectFrom('games as g')
    .innerJoin('game_documents as d', 'd.game_id', 'g.id')
    .innerJoin('game_stats as s', 's.game_id', 'g.id')
    .select(['g.id', 'g.status', 'g.submitted_by', 'd.body', hiddenTags ? 'd.tags_with_hidden as tags' : 'd.tags'])
    .select([
      's.mods_count_total',
      's.mods_downloads_today',
      's.mods_downloads_total',
      's.mods_downloads_daily_average',
    ])
    .select(['s.mods_subscribers_total', 's.date_expires', 'd.language'])
    .where('g.id', 'in', ids)
    .where('d.language', 'in', [language, 'en'])
    .execute();
  const documents = new Map<number, StoredGame>();
  for (const row of rows) if (row.language !== 'en' || !documents.has(row.id)) documents.set(row.id, row);
  return documents;
}

export const statsOf = (query: Query, gameId: number) =>
  query.selectFrom('game_stats').selectAll().where('game_id', '=', gameId).executeTakeFirst();

export async function add(query: Query, row: Insertable<GamesTable>): Promise<GameRow> {
  const game = await query.insertInto('games').values(row).returningAll().executeTakeFirstOrThrow();
  await query
    .insertInto('game_stats')
    .values({
      game_id: game.id,
      mods_count_total: 0,
      mods_downloads_today: 0,
      mods_downloads_total: 0,
      mods_downloads_daily_average: 0,
      mods_subscribers_total: 0,
      date_expires: row.date_added as number,
    })
    .execute();
  return game;
}

export const change = (query: Query, id: number, changes: Updateable<GamesTable>) =>
  query.updateTable('games').set(changes).where('id', '=', id).execute();

export async function nameIdsLike(query: Query, stem: string): Promise<string[]> {
  const rows = await query
    .selectFrom('games')
    .select('name_id')
    .where((eb) => eb.or([eb('name_id', '=', stem), eb('name_id', 'like', `${stem}-%`)]))
    .execute();
  return rows.map((row) => row.name_id);
}

export async function putWords(query: Query, gameId: number, words: readonly string[]): Promise<void> {
  await query.deleteFrom('game_words').where('game_id', '=', gameId).execute();
  if (words.length > 0)
    await query
      .insertInto('game_words')
      .values(words.map((word) => ({ game_id: gameId, word })))
      .execute();
}

export const platformsOf = (query: Query, gameId: number): Promise<GamePlatformsTable[]> =>
  query.selectFrom('game_platforms').selectAll().where('game_id', '=', gameId).orderBy('platform').execute();

export async function putPlatforms(
  query: Query,
  gameId: number,
  platforms: readonly Omit<GamePlatformsTable, 'game_id'>[],
): Promise<void> {
  await query.deleteFrom('game_platforms').where('game_id', '=', gameId).execute();
  if (platforms.length > 0)
    await query
      .insertInto('game_platforms')
      .values(platforms.map((platform) => ({ ...platform, game_id: gameId })))
      .execute();
}

export type TagGroup = Selectable<GameTagGroupsTable> & { tags: Selectable<GameTagsTable>[] };

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
}

export async function addTagGroup(
  query: Query,
  gameId: number,
  position: number,
  group: NewTagGroup,
): Promise<TagGroup> {
  const row = await query
    .insertInto('game_tag_groups')
    .values({
      game_id: gameId,
      name: group.name,
      type: group.type,
      hidden: group.hidden ? 1 : 0,
      locked: group.locked ? 1 : 0,
      position,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const tags = group.tags.map((name, index) => ({ group_id: row.id, name, position: index, mods_count: 0 }));
  const added = tags.length > 0 ? await query.insertInto('game_tags').values(tags).returningAll().execute() : [];
  return { ...row, tags: added };
}

export async function putDocuments(
  query: Query,
  gameId: number,
  documents: readonly GameDocumentsTable[],
): Promise<void> {
  await query.deleteFrom('game_documents').where('game_id', '=', gameId).execute();
  await query
    .insertInto('game_documents')
    .values([...documents])
    .execute();
}

export async function allIds(query: Query): Promise<number[]> {
  return (await query.selectFrom('games').select('id').execute()).map((row) => row.id);
}
