import type { ExpressionBuilder, Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Tables,
  type Transaction,
  updateOf,
  type Value,
} from '../../platform/database/database.ts';
import { MAY_SCAN } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { USER, type USER_COLUMNS } from '../../platform/database/people.ts';
import { isLiveOn, livePlatformOf } from '../../platform/database/platforms.ts';
import type { ModDocumentsTable, ModStatsTable, ModsTable, ModWordsTable } from './table.ts';

export type ModRow = Selectable<ModsTable>;
export type ModStats = Omit<ModStatsTable, 'ranked' | 'counted'>;
export type ModStanding = Pick<ModRow, 'id' | 'game_id' | 'status' | 'visible' | 'submitted_by' | 'date_live'>;
type ShownUser = Pick<Selectable<Tables['users']>, (typeof USER_COLUMNS)[number]>;

const STATS_COLUMNS = [
  'popularity_rank_position',
  'popularity_rank_total_mods',
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_total',
  'ratings_positive',
  'ratings_negative',
  'ratings_percentage_positive',
  'ratings_weighted_aggregate',
  'ratings_display_text',
  'date_expires',
] as const;

/** A mod's document with the columns that are appended to it. The submitter's columns keep their names. */
export interface StoredMod extends Omit<ModStats, 'mod_id'>, ShownUser {
  mod_id: number;
  game_id: number;
  mod_status: number;
  mod_visible: number;
  mod_name_id: string;
  game_status: number;
  game_name_id: string;
  api_access_options: number;
  body: string;
  /** 1 or 0; always 0 where the game disables dependencies. */
  has_dependencies: number;
  /** The live file, or null. */
  file_id: number | null;
  file_sha256: string | null;
  file_body: string | null;
}

const DOCUMENT_COLUMNS = `${USER.join(', ')},
  ${STATS_COLUMNS.map((name) => `s.${name}`).join(', ')}, m.id as mod_id, m.game_id, m.status as mod_status,
  m.visible as mod_visible, m.name_id as mod_name_id, g.status as game_status, g.name_id as game_name_id,
  g.api_access_options, coalesce(t.body, c.body) as body, l.modfile_id as file_id, b.sha256 as file_sha256, b.body as file_body,
  case when g.dependency_option = 0 then 0
    when exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 1 else 0 end as has_dependencies`;

/** Games without platforms show the same file on all of them. */
const LIVE_FILE = `left join mod_live_files l on l.mod_id = m.id
    and l.platform = ${livePlatformOf({ mod: 'm.id', game: 'm.game_id', platform: 'cast(? as text)' })}
  left join modfile_documents b on b.modfile_id = l.modfile_id`;
/** Repeats the platform for each of its placeholders. */
const inLiveFile = (platform: string): string[] => LIVE_FILE.match(/\?/g)!.map(() => platform);

function liveFileOn(platform: string) {
  const parts = LIVE_FILE.split('?').map((part) => sql.raw(part));
  return sql.join(parts, sql`${platform}`);
}

const JOINED = `from mods m join mod_cards c on c.mod_id = m.id join mod_stats s on s.mod_id = m.id
    join games g on g.id = m.game_id join users u on u.id = m.submitted_by
    left join mod_documents t on t.mod_id = m.id and t.language =`;
const DOCUMENT = statement(`select ${DOCUMENT_COLUMNS} ${JOINED} ? ${LIVE_FILE} where m.id = ?`);

/** The database, or a transaction that must see its own writes. */
type Reader = Pick<Database, 'first'>;

/** The live file of the platform or, without a platform, the default one. */
export const documentOf = (reader: Reader, id: number, language: string, platform = '') =>
  reader.first<StoredMod>(DOCUMENT, [language, ...inLiveFile(platform), id]);

const STANDING = statement('select id, game_id, status, visible, submitted_by, date_live from mods where id = ?');
export const standingOf = (reader: Reader, id: number) => reader.first<ModStanding>(STANDING, [id]);

/** On PostgreSQL this locks the row; SQLite has a single writer anyway. */
const ROW_FOR_CHANGE = withUpdateLock(statement('select * from mods where id = ?'));
export const rowForChange = (transaction: Transaction, id: number) => transaction.first<ModRow>(ROW_FOR_CHANGE, [id]);

const ANY_LIVE_FILE = statement('select modfile_id from mod_live_files where mod_id = ? limit 1');
export async function hasLiveFile(transaction: Transaction, modId: number): Promise<boolean> {
  return (await transaction.first(ANY_LIVE_FILE, [modId])) !== undefined;
}

const PLATFORM = statement('select platform from game_platforms where game_id = ? limit 1');
export async function hasPlatforms(reader: Reader, gameId: number): Promise<boolean> {
  return (await reader.first(PLATFORM, [gameId])) !== undefined;
}

const DEPENDENCY_OPTION = statement('select dependency_option from games where id = ?');
export async function dependencyOption(reader: Reader, gameId: number): Promise<number | undefined> {
  return (await reader.first<{ dependency_option: number }>(DEPENDENCY_OPTION, [gameId]))?.dependency_option;
}

const DEPENDANT = statement(`select d.mod_id from mod_dependencies d join mods m on m.id = d.mod_id
  where d.dependency_id = ? and m.status <> 3 limit 1`);
export async function hasDependants(reader: Reader, modId: number): Promise<boolean> {
  return (await reader.first(DEPENDANT, [modId])) !== undefined;
}

/** Which mods a list contains, and which of them its caller may see. */
export interface ModScope {
  readonly gameId: number | undefined;
  /** Only mods whose team this user belongs to. */
  readonly ownId: number | undefined;
  /** Only mods to which this user subscribes, in every state but deleted. */
  readonly subscriberId?: number | undefined;
  /** Without mods of authors whom this user has muted. */
  readonly muterId?: number | undefined;
  /** The caller may see all states: the game's team. */
  readonly everything: boolean;
  /** The caller may see mods of this user's teams in every state but deleted. */
  readonly memberId: number | undefined;
  /** The request filters by these columns itself; otherwise a list contains public mods only. */
  readonly asksStatus: boolean;
  readonly asksVisible: boolean;
  /** Only mods that are live on this platform. */
  readonly platform?: string | undefined;
  readonly platformStatus?: PlatformStatus | undefined;
}

/** Only, or also, mods with a file that awaits approval on the platform, or on any platform. */
export type PlatformStatus = 'pending_only' | 'live_and_pending';

const ofTeamsOf = (userId: number) =>
  sql<boolean>`m.id in (select t.resource_id from team_members t where t.resource = 'mods' and t.user_id = ${userId})`;

const isSubscribedBy = (userId: number) =>
  sql<boolean>`m.id in (select s.mod_id from subscriptions s where s.user_id = ${userId})`;

/** Public mods and nothing else. */
export const isDefault = ({ ownId, subscriberId, asksStatus, asksVisible }: ModScope) =>
  ownId === undefined && subscriberId === undefined && !asksStatus && !asksVisible;
export const isForAll = ({ platform, platformStatus }: ModScope) =>
  platform === undefined && platformStatus === undefined;

export function within(query: Query, scope: ModScope) {
  let mods = query.selectFrom('mods as m');
  if (!isForAll(scope)) mods = mods.where(isOnPlatform(scope));
  if (scope.gameId !== undefined) mods = mods.where('m.game_id', '=', scope.gameId);
  if (scope.subscriberId !== undefined)
    return mods.where(isSubscribedBy(scope.subscriberId)).where('m.status', '<>', 3);
  if (scope.ownId !== undefined) {
    mods = mods.where(ofTeamsOf(scope.ownId));
    return scope.asksStatus ? mods : mods.where('m.status', '<>', 3);
  }
  if (!scope.asksStatus) mods = mods.where('m.status', '=', 1);
  if (!scope.asksVisible) mods = mods.where('m.visible', '=', 1);
  return scope.everything || isDefault(scope) ? mods : mods.where((eb) => visibleTo(eb, scope.memberId));
}

/**
 * Games without platforms have their mods on all of them. Files that await approval are visible to the teams of the mod
 * and its game.
 */
function isOnPlatform({ platform, platformStatus, everything, memberId, ownId }: ModScope) {
  const here = platform === undefined ? sql`` : sql`and p.platform = ${platform}`;
  const live =
    platform === undefined ? sql`exists (select 1 from mod_live_files l where l.mod_id = m.id)` : isLiveOn(platform);
  const team = ownId ?? memberId;
  const may = everything ? sql`1 = 1` : team === undefined ? sql`1 = 0` : ofTeamsOf(team);
  const pending = sql`(${may} and m.id in (select f.mod_id from modfiles f join modfile_platforms p on p.modfile_id = f.id
    where f.kind = 'file' and f.status <> 3 and p.status = 0 ${here}))`;
  const asked = { pending_only: pending, live_and_pending: sql`(${live} or ${pending})` };
  return sql<boolean>`(not exists (select 1 from game_platforms o where o.game_id = m.game_id)
    or ${platformStatus ? asked[platformStatus] : live})`;
}

function visibleTo(eb: ExpressionBuilder<Tables & { m: ModsTable }, 'm'>, memberId: number | undefined) {
  const isPublic = eb.and([eb('m.status', '=', 1), eb('m.visible', '=', 1)]);
  if (memberId === undefined) return isPublic;
  return eb.or([isPublic, eb.and([ofTeamsOf(memberId), eb('m.status', '<>', 3)])]);
}

/** Stored with every change, because counting a million rows takes longer than the page. */
export async function publicModsOf(reader: Reader, gameId: number): Promise<number> {
  return (await reader.first<{ mods_count_total: number }>(PUBLIC_MODS, [gameId]))!.mods_count_total;
}
const PUBLIC_MODS = statement('select mods_count_total from game_stats where game_id = ?');

/** An order of public mods that has an index; `id` breaks ties. */
export interface Order {
  readonly sql: string;
  readonly descending: boolean;
  readonly idDescending?: boolean;
}

/** The position of a mod in an order. */
export interface Place {
  readonly value: Value;
  readonly id: number;
}

export interface Cut {
  readonly limit: number;
  readonly offset: number;
}

const LIMITED = 'limit ? offset ?';

const reads = new Map<string, Statement>();

function publicIn(columns: string, condition: string, { sql: by, descending, idDescending }: Order, end: string) {
  const text = `select ${columns} from mods m where m.game_id = ? and m.status = 1 and m.visible = 1 ${condition}
    order by ${by} ${descending ? 'desc' : 'asc'}, m.id ${idDescending ? 'desc' : 'asc'} ${end}`;
  return readOf(text);
}

function readOf(text: string): Statement {
  const known = reads.get(text) ?? statement(text);
  reads.set(text, known);
  return known;
}

/** As one text, because a row for each of a hundred ids would cost more than finding them. */
async function idsIn(reader: Reader, { text }: Statement, values: readonly Value[]): Promise<number[]> {
  const together = readOf(`select string_agg(cast(id as text), ',') as ids from (${text}) as page`);
  const { ids } = (await reader.first<{ ids: string | null }>(together, values))!;
  return ids === null ? [] : JSON.parse(`[${ids}]`);
}

/** The public mods of a game in this order. */
export const publicPage = (reader: Reader, gameId: number, order: Order, cut: Cut): Promise<number[]> =>
  idsIn(reader, publicIn('m.id', '', order, LIMITED), [gameId, cut.limit, cut.offset]);

/** The position after this many mods. */
export const placeOf = (reader: Reader, gameId: number, order: Order, before: number) =>
  reader.first<Place>(publicIn(`${order.sql} as value, m.id`, '', order, 'limit 1 offset ?'), [gameId, before]);

const alikeIn = ({ sql: by, idDescending }: Order) => `and ${by} = ? and m.id ${idDescending ? '<=' : '>='} ?`;

/** The mod at this position, and those after it with an equal value. */
export const alikeFrom = (reader: Reader, gameId: number, order: Order, { value, id }: Place, cut: Cut) =>
  idsIn(reader, publicIn('m.id', alikeIn(order), order, LIMITED), [gameId, value, id, cut.limit, cut.offset]);

/** Counts those mods, up to a limit. */
export async function countAlike(
  reader: Reader,
  gameId: number,
  order: Order,
  { value, id }: Place,
  most: number,
): Promise<number> {
  const { text } = publicIn('m.id', alikeIn(order), order, 'limit ?');
  const count = readOf(`select count(*) as mods from (${text}) as alike`);
  return Number((await reader.first<{ mods: number }>(count, [gameId, value, id, most]))!.mods);
}

/** The mods after all that are equal to this position. */
export function behind(reader: Reader, gameId: number, order: Order, { value }: Place, cut: Cut) {
  const condition = `and ${order.sql} ${order.descending ? '<' : '>'} ?`;
  return idsIn(reader, publicIn('m.id', condition, order, LIMITED), [gameId, value, cut.limit, cut.offset]);
}

export interface KnownWord {
  readonly word: string;
  /** The number of public mods that have it. */
  readonly mods: number;
}

const KNOWN = sql`select word, mods_count as mods from mod_vocabulary`;

/** The words of a game's public mods within a range, up to a limit. */
export async function wordsBetween(query: Query, gameId: number, from: string, to: string, most: number) {
  const { rows } = await sql<KnownWord>`${KNOWN} where game_id = ${gameId} and word >= ${from} and word < ${to}
    and mods_count > 0 order by word limit ${most}`.execute(query);
  return rows;
}

export async function knownWords(query: Query, gameId: number, words: readonly string[]): Promise<KnownWord[]> {
  if (words.length === 0) return [];
  const { rows } = await sql<KnownWord>`${KNOWN} where game_id = ${gameId} and word in (${sql.join(words)})
    and mods_count > 0`.execute(query);
  return rows;
}

interface Range {
  readonly from: string;
  readonly to: string;
}

const between = (ranges: readonly Range[]) =>
  sql.join(
    ranges.map(({ from, to }) => sql`(w.word >= ${from} and w.word < ${to})`),
    sql` or `,
  );

/** Counts the words of public mods in these ranges, each once per mod that has it. */
export async function modsBetween(query: Query, gameId: number, ranges: readonly Range[]): Promise<number> {
  const { rows } = await sql<{ mods: number | null }>`select sum(w.mods_count) as mods from mod_vocabulary w
    where w.game_id = ${gameId} and (${between(ranges)}) and ${sql.raw(MAY_SCAN)}`.execute(query);
  return Number(rows[0]?.mods ?? 0);
}

/** The most popular mods of each term; a mod with several terms comes several times. */
export async function mostPopularOf(query: Query, gameId: number, terms: readonly string[], most: number) {
  const lists = terms.map(
    (term, index) => sql`select * from (select mod_id as id, popularity from mod_words
      where game_id = ${gameId} and shown = 1 and word = ${term}
      order by popularity desc, mod_id limit ${most}) as ${sql.raw(`t${index}`)}`,
  );
  return (await sql<Ranked>`${sql.join(lists, sql` union all `)}`.execute(query)).rows;
}

/** Public mods with a word in these ranges: scans mods in order, the most popular first. */
export async function probedBetween(query: Query, gameId: number, ranges: readonly Range[], most: number) {
  const { rows } = await sql<Ranked>`select m.id, m.popularity from mods m
    where m.game_id = ${gameId} and m.status = 1 and m.visible = 1
      and exists (select 1 from mod_words w where w.mod_id = m.id and (${between(ranges)}))
      and ${sql.raw(MAY_SCAN)}
    order by m.popularity desc, m.id limit ${most}`.execute(query);
  return rows;
}

/** As `probedBetween`, but finds mods by their words and sorts them afterwards. */
export async function sortedBetween(query: Query, gameId: number, ranges: readonly Range[], most: number) {
  const { rows } = await sql<Ranked>`select w.mod_id as id, max(w.popularity) as popularity from mod_words w
    where w.game_id = ${gameId} and w.shown = 1 and (${between(ranges)}) and ${sql.raw(MAY_SCAN)}
    group by w.mod_id order by 2 desc, 1 limit ${most}`.execute(query);
  return rows;
}

/** Counts the public mods with at least one of these words or a word in these ranges. */
export async function modsWithAny(query: Query, gameId: number, words: readonly string[], ranges: readonly Range[]) {
  const parts = [
    ...(words.length > 0 ? [sql`w.word in (${sql.join(words)})`] : []),
    ...ranges.map((each) => between([each])),
  ];
  const { rows } = await sql<{ total: number }>`select count(*) as total from (select distinct w.mod_id from mod_words w
    where w.game_id = ${gameId} and w.shown = 1 and (${sql.join(parts, sql` or `)})
      and ${sql.raw(MAY_SCAN)}) as found`.execute(query);
  return Number(rows[0]!.total);
}

const TAGS_OF_GAME = sql<{ id: number; name: string; mods: number }>`select t.id, t.name, t.mods_count as mods
  from game_tags t join game_tag_groups g on g.id = t.group_id`;
export const tagsOfGame = async (query: Query, gameId: number) =>
  (await sql<{ id: number; name: string; mods: number }>`${TAGS_OF_GAME} where g.game_id = ${gameId}`.execute(query))
    .rows;

/** Counts the public mods that have both tags. */
export async function modsWithBoth(query: Query, one: number, other: number): Promise<number> {
  const row = await query
    .selectFrom('mod_tag_pairs')
    .select('mods_count')
    .where('tag_id', '=', Math.min(one, other))
    .where('other_id', '=', Math.max(one, other))
    .executeTakeFirst();
  return row?.mods_count ?? 0;
}

/** Public mods that have all of these tags, the most popular first. */
export async function byPopularity(
  query: Query,
  tagId: number,
  otherIds: readonly number[],
  { limit, offset }: { limit: number; offset: number },
): Promise<number[]> {
  const others = otherIds.map(
    (id) => sql`and exists (select 1 from mod_tags y where y.mod_id = x.mod_id and y.tag_id = ${id})`,
  );
  const { rows } = await sql<{ id: number }>`select x.mod_id as id from mod_tags x
    where x.tag_id = ${tagId} and x.shown = 1 ${sql.join(others, sql` `)}
    order by x.popularity desc, x.mod_id limit ${limit} offset ${offset}`.execute(query);
  return rows.map(({ id }) => id);
}

/** The documents of these mods in the given language, in English where there is no translation. */
export async function documentsOf(
  query: Query,
  ids: readonly number[],
  language: string,
  platform = '',
): Promise<Map<number, StoredMod>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<StoredMod>`select ${sql.raw(DOCUMENT_COLUMNS)} ${sql.raw(JOINED)} ${language}
    ${liveFileOn(platform)} where m.id in (${sql.join(ids)})`.execute(query);
  return new Map(rows.map((row) => [row.mod_id, row]));
}

export async function add(query: Query, row: Insertable<ModsTable>): Promise<ModRow> {
  const mod = await query.insertInto('mods').values(row).returningAll().executeTakeFirstOrThrow();
  const counts = Object.fromEntries(STATS_COLUMNS.map((name) => [name, 0])) as unknown as Omit<ModStats, 'mod_id'>;
  await query
    .insertInto('mod_stats')
    .values(withTexts({ ...counts, mod_id: mod.id, ratings_display_text: 'Unrated', date_expires: mod.date_added }))
    .execute();
  return mod;
}

/** Returns the changed mod. */
export async function change(transaction: Transaction, id: number, changes: Updateable<ModsTable>): Promise<ModRow> {
  const set = Object.entries(changes).filter(([, value]) => value !== undefined) as [string, Value][];
  const update = updateOf(
    'mods',
    set.map(([name]) => name),
  );
  return (await transaction.first<ModRow>(update, [...set.map(([, value]) => value), id]))!;
}

const PUT_TEXTS = statement('update mod_stats set ranked = ?, counted = ? where mod_id = ?');

export async function putStats(transaction: Transaction, modId: number, stats: Partial<Omit<ModStats, 'mod_id'>>) {
  const changed = transaction.query.updateTable('mod_stats').set(stats).where('mod_id', '=', modId).returningAll();
  const row = await changed.executeTakeFirst();
  if (!row) return;
  const { ranked, counted } = withTexts(row);
  await transaction.run(PUT_TEXTS, [ranked, counted, modId]);
}

type StatsColumns = readonly (keyof ModStats)[];
const IN_RANKED = ['popularity_rank_position', 'popularity_rank_total_mods', 'date_expires'] as const;
const IN_COUNTED: StatsColumns = [
  'mod_id',
  ...STATS_COLUMNS.filter((name) => !(IN_RANKED as StatsColumns).includes(name)),
];

export const withTexts = (stats: ModStats): ModStatsTable => ({
  ...stats,
  ranked: textOf(stats, IN_RANKED),
  counted: textOf(stats, IN_COUNTED),
});

const textOf = (stats: ModStats, columns: StatsColumns) =>
  columns.map((name) => `"${name}":${JSON.stringify(stats[name])}`).join(',');

/** The counted stats; all others are derived from them. */
const COUNTED = [
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_total',
  'ratings_positive',
  'ratings_negative',
] as const;
export type ModCounts = Pick<ModStats, (typeof COUNTED)[number]>;

const LOCK = withUpdateLock(statement('select id from mods where id = ?'));
const ADD_TO_STATS = statement(`update mod_stats set ${COUNTED.map((name) => `${name} = ${name} + ?`).join(', ')}
  where mod_id = ? returning ${COUNTED.join(', ')}`);

/** Locks the mod before its stats, as every transaction does, so that none of them deadlock. */
export async function addToStats(
  transaction: Transaction,
  modId: number,
  difference: Partial<ModCounts>,
): Promise<ModCounts | undefined> {
  await transaction.first(LOCK, [modId]);
  const values = [...COUNTED.map((name) => difference[name] ?? 0), modId];
  return transaction.first<ModCounts>(ADD_TO_STATS, values);
}

export type Ranked = Pick<ModRow, 'id' | 'popularity'>;

/** The public mods of a game after this one, the most popular first. */
export function popularAfter(query: Query, gameId: number, after: Ranked | undefined, most: number): Promise<Ranked[]> {
  let mods = query.selectFrom('mods').select(['id', 'popularity']);
  mods = mods.where('game_id', '=', gameId).where('status', '=', 1).where('visible', '=', 1);
  if (after)
    mods = mods
      .where('popularity', '<=', after.popularity)
      .where((eb) => eb.or([eb('popularity', '<', after.popularity), eb('id', '>', after.id)]));
  return mods.orderBy('popularity', 'desc').orderBy('id').limit(most).execute();
}

/** Sets new ranks, given as SQL: the columns, and the JSON text that repeats them. */
const rankedAs = (...values: readonly [position: string, total: string, expires: string]) =>
  `${IN_RANKED.map((name, i) => `${name} = ${values[i]}`).join(', ')},
    ranked = concat(${IN_RANKED.map((name, i) => `'${i > 0 ? ',' : ''}"${name}":', ${values[i]}`).join(', ')})`;
const int = (parameter: string) => `cast(${parameter} as bigint)`;

const PUT_RANKS: Statement = {
  text: `update mod_stats set ${rankedAs(`${int('?1')} + r.place`, int('?2'), int('?3'))}
    from (select key as place, value as id from json_each(?4)) r where mod_stats.mod_id = r.id`,
  postgres: `update mod_stats set ${rankedAs(`${int('$1')} + r.place - 1`, int('$2'), int('$3'))}
    from json_array_elements_text($4::json) with ordinality as r (id, place) where mod_stats.mod_id = r.id::bigint`,
};

/** Ranks these mods from `first` on. */
export const putRanks = (
  transaction: Transaction,
  ids: readonly number[],
  { first, total, dateExpires }: { first: number; total: number; dateExpires: number },
) => transaction.run(PUT_RANKS, [first, total, dateExpires, JSON.stringify(ids)]);

export async function putWords(query: Query, modId: number, rows: readonly ModWordsTable[]): Promise<void> {
  await query.deleteFrom('mod_words').where('mod_id', '=', modId).execute();
  if (rows.length > 0) await query.insertInto('mod_words').values(rows).execute();
}

/**
 * Adjusts the word counts of a game's public mods. Rows are locked in one order, so that transactions do not deadlock.
 */
export async function countWords(query: Query, gameId: number, words: readonly string[], difference: number) {
  if (words.length === 0) return;
  const rows = [...words].sort().map((word) => ({ game_id: gameId, word, mods_count: difference }));
  await query
    .insertInto('mod_vocabulary')
    .values(rows)
    .onConflict((key) =>
      key
        .columns(['game_id', 'word'])
        .doUpdateSet((eb) => ({ mods_count: eb('mod_vocabulary.mods_count', '+', eb.ref('excluded.mods_count')) })),
    )
    .execute();
}

const RANK_WORDS = statement('update mod_words set popularity = ? where mod_id = ? and popularity <> ?');
export const rankWords = (transaction: Transaction, modId: number, popularity: number) =>
  transaction.run(RANK_WORDS, [popularity, modId, popularity]);

/** Equals the link that `linkedFile` writes, for a live file `l` and its document `b`. */
export const FILE_LINK = `concat(l.mod_id, '/files/', l.modfile_id, '/download/', substr(b.sha256, 1, 43))`;
const OF_CARD = [
  'game_id',
  'status',
  'visible',
  'submitted_by',
  'needs',
  'file_id',
  'name_id',
  'file_link',
  'file_body',
  'body',
] as const;
const PUT_CARD = statement(`insert into mod_cards (mod_id, ${OF_CARD.join(', ')})
  select m.id, m.game_id, m.status, m.visible, m.submitted_by,
    case when exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 1 else 0 end,
    l.modfile_id, m.name_id, case when b.body is not null then ${FILE_LINK} end, b.body, cast(? as text)
  from mods m left join mod_live_files l on l.mod_id = m.id and l.platform = ''
    left join modfile_documents b on b.modfile_id = l.modfile_id
  where m.id = ?
  on conflict (mod_id) do update set ${OF_CARD.map((name) => `${name} = excluded.${name}`).join(', ')}`);
/** The values that a card repeats are read from their tables again with every new body. */
export const putCard = (transaction: Transaction, modId: number, body: string) =>
  transaction.run(PUT_CARD, [body, modId]);

/** Those of the mods that exist, in the given order. */
export async function cardsAmong(query: Query, ids: readonly number[]): Promise<number[]> {
  const rows = await query.selectFrom('mod_cards').select('mod_id').where('mod_id', 'in', ids).execute();
  const known = new Set(rows.map(({ mod_id }) => mod_id));
  return ids.filter((id) => known.has(id));
}

const SHOW_FILE = statement(`update mod_cards set (file_id, file_link, file_body) =
    (select l.modfile_id, ${FILE_LINK}, b.body from mod_live_files l join modfile_documents b on b.modfile_id = l.modfile_id
      where l.mod_id = mod_cards.mod_id and l.platform = '')
  where mod_id = ?`);
export const showFile = (transaction: Transaction, modId: number) => transaction.run(SHOW_FILE, [modId]);

const NEED_NOTHING = statement(`update mod_cards set needs = 0
  where mod_id = ? and not exists (select 1 from mod_dependencies x where x.mod_id = mod_cards.mod_id)`);
/** The mod has lost a dependency, perhaps its last. */
export const loseDependency = (transaction: Transaction, modId: number) => transaction.run(NEED_NOTHING, [modId]);

const PUT_DOCUMENT = statement(`insert into mod_documents (mod_id, language, body) values (?, ?, ?)
  on conflict (mod_id, language) do update set body = excluded.body`);
export const putDocument = (transaction: Transaction, { mod_id, language, body }: ModDocumentsTable) =>
  transaction.run(PUT_DOCUMENT, [mod_id, language, body]);

const DOCUMENT_LANGUAGES = statement('select language from mod_documents where mod_id = ?');
export async function documentLanguages(transaction: Transaction, modId: number): Promise<string[]> {
  return (await transaction.all<{ language: string }>(DOCUMENT_LANGUAGES, [modId])).map((row) => row.language);
}

const REMOVE_DOCUMENT = statement('delete from mod_documents where mod_id = ? and language = ?');
export const removeDocument = (transaction: Transaction, modId: number, language: string) =>
  transaction.run(REMOVE_DOCUMENT, [modId, language]);

export const idsAfter = (query: Query, id: number, most: number) =>
  query.selectFrom('mods').select(['id', 'game_id']).where('id', '>', id).orderBy('id').limit(most).execute();

export async function remove(query: Query, id: number): Promise<void> {
  await query.deleteFrom('mod_words').where('mod_id', '=', id).execute();
  await query.deleteFrom('mod_cards').where('mod_id', '=', id).execute();
  await query.deleteFrom('mod_documents').where('mod_id', '=', id).execute();
  await query.deleteFrom('mod_stats').where('mod_id', '=', id).execute();
  await query.deleteFrom('mods').where('id', '=', id).execute();
}

/** How a user became a previewer, and the options that decide whether they still have access. */
export interface Preview {
  invited_by: number | null;
  community_options: number;
}

const PREVIEW =
  statement(`select p.invited_by, m.community_options from previewers p join mods m on m.id = p.resource_id
  where p.resource = 'mods' and p.resource_id = ? and p.user_id = ?`);
export const previewOf = (reader: Reader, id: number, userId: number) => reader.first<Preview>(PREVIEW, [id, userId]);

const SUBSCRIBED = statement('select user_id from subscriptions where user_id = ? and mod_id = ?');
export const isSubscribed = async (reader: Reader, id: number, userId: number): Promise<boolean> =>
  (await reader.first(SUBSCRIBED, [userId, id])) !== undefined;

export const namedAfter = (query: Query, id: number, most: number) =>
  query
    .selectFrom('mods')
    .select(['id', 'game_id', 'name', 'status', 'visible', 'popularity'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(most)
    .execute();

export async function removeAllWords(query: Query): Promise<void> {
  await query.deleteFrom('mod_words').execute();
  await query.deleteFrom('mod_vocabulary').execute();
}
