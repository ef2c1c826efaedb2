import type { Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import {
  type Database,
  idsIn,
  type Query,
  type Statement,
  statement,
  type Tables,
  type Transaction,
  updateOf,
  type Value,
} from '../../platform/database/database.ts';
import { KeptRows, type Made } from '../../platform/database/kept.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { USER, type USER_COLUMNS } from '../../platform/database/people.ts';
import { putNameWords } from '../../platform/database/search.ts';
import type {
  GameDocumentsTable,
  GamePlatformsTable,
  GameStatsTable,
  GamesTable,
  GameTagDocumentsTable,
} from './table.ts';

export type GameRow = Selectable<GamesTable>;
type ShownUser = Pick<Selectable<Tables['users']>, (typeof USER_COLUMNS)[number]>;

/** A game's document with the columns that are appended to it. */
interface GameDocument extends Omit<GameStatsTable, 'game_id'> {
  game_id: number;
  game_status: number;
  game_date_live: number;
  body: string;
  tags: string;
}

/** The submitter's columns keep their names. */
export type StoredGame = GameDocument & ShownUser;

const STATS = `s.mods_count_total, s.mods_downloads_today, s.mods_downloads_total, s.mods_downloads_daily_average,
  s.mods_subscribers_total, s.date_expires`;

/** Reads the whole object at once. The submitter's columns keep their names. */
const documents = (languages: string, tags: string, versions?: string) =>
  `select ${versions === undefined ? '' : `${versions} as versions,`} ${USER.join(', ')}, g.id as game_id, g.status as game_status,
      g.date_live as game_date_live,
      d.body, d.language as document_language, t.${tags} as tags, ${STATS}
    from games g join game_documents d on d.game_id = g.id and d.language ${languages}
      join game_tag_documents t on t.game_id = d.game_id and t.language = d.language
      join game_stats s on s.game_id = g.id join users u on u.id = g.submitted_by`;

const documentIn = (languages: string, tags: string) => statement(`${documents(languages, tags)} where g.id = ?`);

const ENGLISH = { shown: documentIn(`= 'en'`, 'tags'), all: documentIn(`= 'en'`, 'tags_with_hidden') };
const TRANSLATED = { shown: documentIn('= ?', 'tags'), all: documentIn('= ?', 'tags_with_hidden') };

/** The database, or a transaction that must see its own writes. */
type Reader = Pick<Database, 'first'>;

export function documentOf(reader: Reader, id: number, language: string, hiddenTags: boolean) {
  const which = hiddenTags ? 'all' : 'shown';
  const english = () => reader.first<StoredGame>(ENGLISH[which], [id]);
  return language === 'en' ? english() : translatedOr(reader, which, [language, id], english);
}

/** The same of what is committed, kept until it changes. */
export function shownDocumentOf(db: Database, id: number, language: string, hiddenTags: boolean) {
  if (db.dialect !== 'sqlite') return documentsOf(db, [id], language, hiddenTags).then((found) => found.get(id));
  const which = hiddenTags ? 'all' : 'shown';
  return kept.valueOf(db, id, `${language}/${which}`, () => {
    const rows = db.all<DocumentRow>(OF_GAMES[which], [language, JSON.stringify([id])]);
    return madeOf(rows as DocumentRow[])[0];
  });
}

async function translatedOr(
  reader: Reader,
  which: 'all' | 'shown',
  values: [language: string, id: number],
  english: () => StoredGame | undefined | Promise<StoredGame | undefined>,
) {
  return (await reader.first<StoredGame>(TRANSLATED[which], values)) ?? english();
}

export type Standing = Pick<
  GameRow,
  | 'id'
  | 'status'
  | 'submitted_by'
  | 'date_live'
  | 'community_options'
  | 'maturity_options'
  | 'api_access_options'
  | 'monetization_options'
  | 'summary_length_max'
>;

const STANDING = statement(`select id, status, submitted_by, date_live, community_options, maturity_options,
  api_access_options, monetization_options, summary_length_max from games where id = ?`);
export const standingOf = (reader: Reader, id: number) => reader.first<Standing>(STANDING, [id]);

const BY_ID = statement('select * from games where id = ?');
const ID_OF_NAME = statement('select id from games where name_id = ?');

export const idOfName = (db: Pick<Database, 'first'>, nameId: string) =>
  db.first<{ readonly id: number }>(ID_OF_NAME, [nameId]);
export const byId = (db: Database, id: number) => db.first<GameRow>(BY_ID, [id]);

export const rowIn = (transaction: Transaction, id: number) => transaction.first<GameRow>(BY_ID, [id]);

/** On PostgreSQL this locks the row; SQLite has a single writer anyway. */
const FOR_CHANGE = withUpdateLock(BY_ID);
export const rowForChange = (transaction: Transaction, id: number) => transaction.first<GameRow>(FOR_CHANGE, [id]);

/** Which games a caller may see in lists. */
export interface Visible {
  readonly everything: boolean;
  readonly gameId: number | undefined;
  readonly memberId: number | undefined;
  /** If set, the member's seats count only in these games. */
  readonly seenIn?: readonly number[] | undefined;
  /** Only games of the member's own teams. */
  readonly ownOnly: boolean;
}

function visibleTo(query: Query, visible: Visible) {
  const games = query.selectFrom('games as g');
  const mine = sql<boolean>`g.id in (select m.resource_id from team_members m where m.resource = 'games' and m.user_id = ${visible.memberId ?? 0})`;
  const { seenIn } = visible;
  const isSeen = seenIn && (seenIn.length > 0 ? sql<boolean>`g.id in (${sql.join(seenIn)})` : sql<boolean>`1 = 0`);
  if (visible.ownOnly) {
    const own = games.where(mine).where('g.status', '<>', 3);
    return isSeen ? own.where((eb) => eb.or([eb('g.status', '=', 1), isSeen])) : own;
  }
  if (visible.everything) return games.where('g.status', '<>', 3);
  return games.where((eb) => {
    const seen = [eb('g.status', '=', 1)];
    if (visible.gameId !== undefined) seen.push(eb.and([eb('g.id', '=', visible.gameId), eb('g.status', '<>', 3)]));
    if (visible.memberId !== undefined) seen.push(eb.and([mine, eb('g.status', '<>', 3), ...(isSeen ? [isSeen] : [])]));
    return eb.or(seen);
  });
}

export async function list(
  db: Database,
  visible: Visible,
  listing: Listing,
  request: ListRequest,
  language: string,
  hiddenTags: boolean,
): Promise<{ games: StoredGame[]; total: number }> {
  const wanted = () =>
    narrowed(visibleTo(db.query, visible).innerJoin('game_stats as s', 's.game_id', 'g.id'), listing, request);
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const page = paged(wanted().select('g.id'), listing, request);
  const ids = total > request.offset ? (await page.execute()).map((row) => row.id) : [];
  const documents = ids.length > 0 ? await documentsOf(db, ids, language, hiddenTags) : new Map<number, StoredGame>();
  return { games: ids.flatMap((id) => documents.get(id) ?? []), total: Number(total) };
}

/** Only PostgreSQL has versions of rows. */
const VERSIONS = ['g', 'd', 't', 's', 'u'].map((row) => `cast(${row}.xmin as text)`).join(` || '.' || `);

const documentsIn = (tags: string): Statement => ({
  text: `${documents(`in (?, 'en')`, tags, `''`)} where g.id in (select value from json_each(?))`,
  postgres: `${documents(`in ($1, 'en')`, tags, VERSIONS)} where g.id = any(${idsIn('$2')})`,
});
const OF_GAMES = { shown: documentsIn('tags'), all: documentsIn('tags_with_hidden') };

const VERSIONS_OF_GAMES: Statement = {
  text: '',
  postgres: `select string_agg(game_id || ' ' || versions, ',') as versions
    from (${documents(`= 'en'`, 'tags', VERSIONS)} where g.id = any(${idsIn('$1')})) english`,
};

/** Operations keep the JSON of a kept game as text and as bytes. */
const COPIES = 3;
const kept = new KeptRows<StoredGame>(({ body, tags }) => COPIES * (body.length + tags.length));

/** The documents of these games in the given language, in English where there is no translation. */
function documentsOf(
  db: Database,
  ids: readonly number[],
  language: string,
  hiddenTags: boolean,
): Promise<Map<number, StoredGame>> {
  const which = hiddenTags ? 'all' : 'shown';
  return kept.valuesOf(db, {
    ids,
    variant: `${language}/${which}`,
    surroundings: '',
    // A translation that is added has no version before.
    versions:
      language === 'en' ? (some) => ({ statement: VERSIONS_OF_GAMES, values: [JSON.stringify(some)] }) : undefined,
    make: async (some) => madeOf(await db.all<DocumentRow>(OF_GAMES[which], [language, JSON.stringify(some)])),
  });
}

interface DocumentRow extends StoredGame {
  readonly document_language: string;
  readonly versions: string;
}

function madeOf(rows: readonly DocumentRow[]): Made<StoredGame>[] {
  const found = new Map<number, DocumentRow>();
  for (const row of rows) if (row.document_language !== 'en' || !found.has(row.game_id)) found.set(row.game_id, row);
  return [...found].map(([id, { versions, ...value }]) => ({
    id,
    versions,
    scopes: [`games/${id}`, `users/${value.id}`],
    value,
  }));
}

export const add = (query: Query, row: Insertable<GamesTable>): Promise<GameRow> =>
  query.insertInto('games').values(row).returningAll().executeTakeFirstOrThrow();

/** Returns the changed game. */
export async function change(transaction: Transaction, id: number, changes: Updateable<GamesTable>): Promise<GameRow> {
  const set = Object.entries(changes).filter(([, value]) => value !== undefined) as [string, Value][];
  const update = updateOf(
    'games',
    set.map(([name]) => name),
  );
  return (await transaction.first<GameRow>(update, [...set.map(([, value]) => value), id]))!;
}

/** `monetization_options` of a mod: it is for sale, or was put on the marketplace. */
const COUNT_MODS = statement(`select count(*) as total,
  coalesce(sum(case when price > 0 or (monetization_options & 3) <> 0 then 1 else 0 end), 0) as sellable
  from mods where game_id = ? and status <> 3`);

/** Counts the mods of the game, and how many of them are for sale. */
export async function countMods(
  transaction: Transaction,
  gameId: number,
): Promise<{ total: number; sellable: number }> {
  const counts = await transaction.first<{ total: number; sellable: number }>(COUNT_MODS, [gameId]);
  return { total: Number(counts!.total), sellable: Number(counts!.sellable) };
}

export async function isNameIdTaken(query: Query, nameId: string, exceptId: number): Promise<boolean> {
  const taken = query.selectFrom('games').select('id').where('name_id', '=', nameId).where('id', '<>', exceptId);
  return (await taken.executeTakeFirst()) !== undefined;
}

export async function nameIdsLike(query: Query, stem: string): Promise<string[]> {
  const rows = await query
    .selectFrom('games')
    .select('name_id')
    .where((eb) => eb.or([eb('name_id', '=', stem), eb('name_id', 'like', `${stem}-%`)]))
    .execute();
  return rows.map((row) => row.name_id);
}

export const putWords = (query: Query, { id, name }: Pick<GameRow, 'id' | 'name'>) =>
  putNameWords(query, { table: 'game_words', key: 'game_id' }, id, name);

const PLATFORMS = statement('select * from game_platforms where game_id = ? order by platform');
export const platformsIn = (transaction: Transaction, gameId: number) =>
  transaction.all<GamePlatformsTable>(PLATFORMS, [gameId]);

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

const PUT_DOCUMENT = statement(`insert into game_documents (game_id, language, body) values (?, ?, ?)
  on conflict (game_id, language) do update set body = excluded.body`);
const PUT_TAGS =
  statement(`insert into game_tag_documents (game_id, language, tags, tags_with_hidden) values (?, ?, ?, ?)
  on conflict (game_id, language) do update set tags = excluded.tags, tags_with_hidden = excluded.tags_with_hidden`);

export const putDocument = (transaction: Transaction, { game_id, language, body }: GameDocumentsTable) =>
  transaction.run(PUT_DOCUMENT, [game_id, language, body]);

export const putTags = (
  transaction: Transaction,
  { game_id, language, tags, tags_with_hidden }: GameTagDocumentsTable,
) => transaction.run(PUT_TAGS, [game_id, language, tags, tags_with_hidden]);

const PUT_BODY = statement('update game_documents set body = ? where game_id = ? and language = ?');
export const putBody = (transaction: Transaction, gameId: number, language: string, body: string) =>
  transaction.run(PUT_BODY, [body, gameId, language]);

const DOCUMENT_LANGUAGES = statement('select language from game_documents where game_id = ?');
export async function documentLanguages(transaction: Transaction, gameId: number): Promise<string[]> {
  return (await transaction.all<{ language: string }>(DOCUMENT_LANGUAGES, [gameId])).map((row) => row.language);
}

const REMOVE_DOCUMENT = statement('delete from game_documents where game_id = ? and language = ?');
const REMOVE_TAGS = statement('delete from game_tag_documents where game_id = ? and language = ?');

export async function removeDocument(transaction: Transaction, gameId: number, language: string): Promise<void> {
  await transaction.run(REMOVE_DOCUMENT, [gameId, language]);
  await transaction.run(REMOVE_TAGS, [gameId, language]);
}

export const allNames = (query: Query) => query.selectFrom('games').select(['id', 'name']).execute();

export async function allIds(query: Query): Promise<number[]> {
  return (await query.selectFrom('games').select('id').execute()).map((row) => row.id);
}

/** Whether a game, a mod, a collection, a user or the site shows the picture in this folder. */
export async function isImageUsed(query: Query, folder: string): Promise<boolean> {
  const isShown = (column: 'logo' | 'icon' | 'header') =>
    query.selectFrom('games').select('id').where(column, '=', folder);
  const used = await isShown('logo')
    .union(isShown('icon'))
    .union(isShown('header'))
    .union(query.selectFrom('mods').select('id').where('logo', '=', folder))
    .union(query.selectFrom('guides').select('id').where('logo', '=', folder))
    .union(query.selectFrom('collections').select('id').where('logo', '=', folder))
    .union(query.selectFrom('mod_media').select('id').where('value', '=', folder))
    .union(query.selectFrom('users').select('id').where('avatar', '=', folder))
    .union(query.selectFrom('site_look').select('date_updated as id').where('icon', '=', folder))
    .limit(1)
    .executeTakeFirst();
  return used !== undefined;
}

const LOGOS = [
  ['mods', 'mod'],
  ['guides', 'guide'],
  ['collections', 'collection'],
] as const;

/** Every folder of pictures that a row names, once, with the row that names it. */
export async function imagesInUse(query: Query): Promise<{ folder: string; owner: string }[]> {
  const owners = new Map<string, string>();
  const note = (folder: string | null, owner: string) => void (folder && owners.set(folder, owner));
  for (const { id, logo, icon, header } of await query
    .selectFrom('games')
    .select(['id', 'logo', 'icon', 'header'])
    .execute())
    for (const folder of [logo, icon, header]) note(folder, `game ${id}`);
  for (const [table, name] of LOGOS) {
    const shown = query.selectFrom(table).select(['id', 'logo']).where('logo', 'is not', null);
    for (const { id, logo } of await shown.execute()) note(logo, `${name} ${id}`);
  }
  const media = query.selectFrom('mod_media').select(['mod_id', 'value']).where('kind', '=', 'image');
  for (const { mod_id, value } of await media.execute()) note(value, `media of mod ${mod_id}`);
  const people = query.selectFrom('users').select(['id', 'avatar']).where('avatar', 'is not', null);
  for (const { id, avatar } of await people.execute()) note(avatar, `user ${id}`);
  for (const { icon } of await query.selectFrom('site_look').select('icon').execute()) note(icon, 'the site');
  return [...owners].map(([folder, owner]) => ({ folder, owner }));
}

/** How a user became a previewer of a game, and the options that decide whether they still have access. */
export interface Preview {
  invited_by: number | null;
  community_options: number;
}

const PREVIEW =
  statement(`select p.invited_by, g.community_options from previewers p join games g on g.id = p.resource_id
  where p.resource = 'games' and p.resource_id = ? and p.user_id = ?`);
export const previewOf = (reader: Reader, id: number, userId: number) => reader.first<Preview>(PREVIEW, [id, userId]);
