import type { Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Tables,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { shareLock, withUpdateLock } from '../../platform/database/locks.ts';
import { isWithinReach, type ModReach } from '../../platform/database/mod-reach.ts';
import { isNotMutedBy } from '../../platform/database/muted.ts';
import { isLiveOn, livePlatformOf } from '../../platform/database/platforms.ts';
import { putNameWords } from '../../platform/database/search.ts';
import type { CollectionRatingsTable, CollectionsTable } from './table.ts';

export type CollectionRow = Selectable<CollectionsTable>;
export type SubmitterRow = Selectable<Tables['users']>;
type Reader = Pick<Database, 'first'>;

/** A collection with its game’s columns that the object needs, and its recent positive ratings. */
export interface CollectionView extends CollectionRow {
  game_limit: number;
  game_name: string;
  /** 1 or 0. */
  has_platforms: number;
  ratings_recent: number;
}

/** The statistics of a collection, over its public mods. */
export interface Contents {
  readonly mods_total: number;
  readonly maturity_option: number;
  readonly filesize: number;
  readonly filesize_uncompressed: number;
  readonly downloads_today: number;
  readonly downloads_total: number;
  /** The maximum over its mods. */
  readonly downloads_most: number;
  readonly platforms: readonly string[];
}

const BY_ID = statement('select * from collections where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<CollectionRow>(BY_ID, [id]);

/** On PostgreSQL this locks the collection; on SQLite there is one writer anyway. */
const FOR_CHANGE = withUpdateLock(BY_ID);
export const rowForChange = (transaction: Transaction, id: number) =>
  transaction.first<CollectionRow>(FOR_CHANGE, [id]);

const GAME_LIMIT = statement('select limit_collection_mods from games where id = ?');
export async function limitOfGame(reader: Reader, gameId: number): Promise<number> {
  return (await reader.first<{ limit_collection_mods: number }>(GAME_LIMIT, [gameId]))!.limit_collection_mods;
}

const viewsIn = (query: Query, sinceDay: number) =>
  query
    .selectFrom('collections as c')
    .innerJoin('games as g', 'g.id', 'c.game_id')
    .selectAll('c')
    .select(['g.limit_collection_mods as game_limit', 'g.name as game_name'])
    .select(
      sql<number>`case when exists (select 1 from game_platforms o where o.game_id = c.game_id) then 1 else 0 end`.as(
        'has_platforms',
      ),
    )
    .select(
      sql<number>`(select coalesce(sum(d.positive), 0) from collection_rating_days d
        where d.collection_id = c.id and d.day > ${sinceDay})`.as('ratings_recent'),
    );

export const viewOf = (query: Query, id: number, sinceDay: number): Promise<CollectionView> =>
  viewsIn(query, sinceDay).where('c.id', '=', id).executeTakeFirstOrThrow();

/** The collections of a list, and those of them that the caller may see. */
export interface CollectionScope {
  readonly gameId?: number | undefined;
  readonly submitterId?: number | undefined;
  readonly followerId?: number | undefined;
  /** Only collections that show this mod. */
  readonly modId?: number | undefined;
  /** For the game’s team: all states. */
  readonly everything?: boolean;
  /** This user’s collections are visible in every state. */
  readonly ownId?: number | undefined;
  /** Lists the user’s own collections in every state but deleted, unless the request filters by state. */
  readonly ownOnly?: boolean;
  /** The request filters by these. By default lists contain public collections. */
  readonly asksStatus: boolean;
  readonly asksVisible: boolean;
  /** Across games: only public games, and the game of this token. */
  readonly tokenGameId?: number | undefined;
  /** The bit of the game’s `community_options` that enables collections. */
  readonly gameBit: number;
  /** Excludes collections of users whom this user has muted. */
  readonly muterId?: number | undefined;
}

function within(query: Query, scope: CollectionScope, sinceDay: number) {
  const { gameId, submitterId, followerId, modId, ownId, gameBit, muterId, tokenGameId = 0 } = scope;
  let views = viewsIn(query, sinceDay).where(sql<boolean>`(g.community_options & ${gameBit}) <> 0`);
  if (gameId !== undefined) views = views.where('c.game_id', '=', gameId);
  else if (!scope.ownOnly)
    views = views
      .where('g.status', '=', 1)
      .where(sql<boolean>`((g.api_access_options & 1) <> 0 or g.id = ${tokenGameId})`);
  if (muterId !== undefined) views = views.where(isNotMutedBy(muterId, 'c.submitted_by'));
  if (submitterId !== undefined) views = views.where('c.submitted_by', '=', submitterId);
  if (followerId !== undefined)
    views = views.where(
      sql<boolean>`c.id in (select w.collection_id from collection_followers w where w.user_id = ${followerId})`,
    );
  if (modId !== undefined) views = views.where(showing(modId));
  if (scope.ownOnly) return scope.asksStatus ? views : views.where('c.status', '<>', 3);
  if (!scope.asksStatus) views = views.where('c.status', '=', 1);
  if (!scope.asksVisible) views = views.where('c.visible', '=', 1);
  if (scope.everything) return views;
  return views.where((eb) =>
    eb.or([
      eb.and([eb('c.status', '=', 1), eb('c.visible', '=', 1)]),
      ...(ownId === undefined ? [] : [eb('c.submitted_by', '=', ownId)]),
    ]),
  );
}

/** For lists, a mod that is not public is in no collection. */
const showing = (modId: number) => sql<boolean>`c.id in (select x.collection_id from collection_mods x
  join mods m on m.id = x.mod_id where x.mod_id = ${modId} and m.status = 1 and m.visible = 1)`;

export async function list(
  query: Query,
  scope: CollectionScope,
  listing: Listing,
  request: ListRequest,
  sinceDay: number,
): Promise<{ collections: CollectionView[]; total: number }> {
  const wanted = () => narrowed(within(query, scope, sinceDay), listing, request);
  const { total } = await wanted().clearSelect().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const collections = await paged(wanted(), listing, request).execute();
  return { collections, total: Number(total) };
}

export async function submittersOf(query: Query, ids: readonly number[]): Promise<Map<number, SubmitterRow>> {
  if (ids.length === 0) return new Map();
  const rows = await query.selectFrom('users').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

interface Sums extends Omit<Contents, 'platforms'> {
  collection_id: number;
}

/** The statistics of these collections. A collection without public mods has none. */
export async function contentsOf(query: Query, ids: readonly number[]): Promise<Map<number, Contents>> {
  if (ids.length === 0) return new Map();
  const platforms = await platformsOf(query, ids);
  const mature = (bit: number) => sql`max(m.maturity_option & ${sql.raw(String(bit))})`;
  const { rows } = await sql<Sums>`
    select x.collection_id, count(*) as mods_total, ${sql.join([1, 2, 4, 8].map(mature), sql` + `)} as maturity_option,
      coalesce(sum(f.filesize), 0) as filesize, coalesce(sum(f.filesize_uncompressed), 0) as filesize_uncompressed,
      sum(m.downloads_today) as downloads_today, sum(m.downloads_total) as downloads_total,
      max(m.downloads_total) as downloads_most
    from collection_mods x join mods m on m.id = x.mod_id
      left join mod_live_files l on l.mod_id = m.id and l.platform = ''
      left join modfiles f on f.id = l.modfile_id
    where x.collection_id in (${sql.join(ids)}) and m.status = 1 and m.visible = 1
    group by x.collection_id`.execute(query);
  return new Map(
    rows.map(({ collection_id, ...sums }) => {
      const numbers = Object.entries(sums).map(([name, value]) => [name, Number(value)]);
      return [collection_id, { ...Object.fromEntries(numbers), platforms: platforms.get(collection_id) ?? [] }];
    }),
  );
}

async function platformsOf(query: Query, ids: readonly number[]): Promise<Map<number, string[]>> {
  const { rows } = await sql<{ collection_id: number; platform: string }>`
    select distinct x.collection_id, o.platform
    from collection_mods x join mods m on m.id = x.mod_id join game_platforms o on o.game_id = m.game_id
      join mod_live_files l on l.mod_id = m.id
        and l.platform = ${sql.raw(livePlatformOf({ mod: 'm.id', game: 'm.game_id', platform: 'o.platform' }))}
    where x.collection_id in (${sql.join(ids)}) and m.status = 1 and m.visible = 1
    order by 1, 2`.execute(query);
  const platforms = new Map<number, string[]>();
  for (const { collection_id, platform } of rows)
    platforms.set(collection_id, [...(platforms.get(collection_id) ?? []), platform]);
  return platforms;
}

/** The mods of a collection that the caller may see. */
export interface ModScope {
  readonly collectionId: number;
  /** Includes hidden mods: all of them for the game’s team, otherwise those of this user’s teams. */
  readonly hidden?: { readonly everything: boolean; readonly memberId: number | undefined } | undefined;
  /** Only mods that are live on this platform, if the game has platforms. */
  readonly platform?: string | undefined;
  /** Excludes mods of users whom this user has muted. */
  readonly muterId?: number | undefined;
  /** Only mods within the reach of the caller's credential. */
  readonly reach?: ModReach | undefined;
}

export async function listMods(
  query: Query,
  scope: ModScope,
  listing: Listing,
  request: ListRequest,
): Promise<{ ids: number[]; total: number }> {
  const wanted = () => narrowed(modsWithin(query, scope), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const page = paged(wanted().select('m.id'), listing, request);
  const ids = Number(total) > request.offset ? (await page.execute()).map((row) => row.id) : [];
  return { ids, total: Number(total) };
}

function modsWithin(query: Query, { collectionId, hidden, platform, muterId, reach }: ModScope) {
  let mods = query
    .selectFrom('collection_mods as x')
    .innerJoin('mods as m', 'm.id', 'x.mod_id')
    .where('x.collection_id', '=', collectionId)
    .where('m.status', '<>', 3);
  if (platform !== undefined) mods = mods.where(isLiveOn(platform));
  if (reach) mods = mods.where(isWithinReach(reach));
  if (muterId !== undefined) mods = mods.where(isNotMutedBy(muterId, 'm.submitted_by'));
  if (hidden?.everything) return mods;
  const memberId = hidden?.memberId;
  return mods.where((eb) =>
    eb.or([
      eb.and([eb('m.status', '=', 1), eb('m.visible', '=', 1)]),
      ...(memberId === undefined
        ? []
        : [
            sql<boolean>`m.id in (select t.resource_id from team_members t
              where t.resource = 'mods' and t.user_id = ${memberId})`,
          ]),
    ]),
  );
}

/** The public mods, without those that this user muted, in the order in which they were added. */
export async function publicModsOf(query: Query, collectionId: number, muterId?: number): Promise<number[]> {
  const mods = modsWithin(query, { collectionId, muterId }).select('m.id').orderBy('x.place');
  return (await mods.execute()).map((row) => row.id);
}

export async function modIdsOf(query: Query, collectionId: number): Promise<number[]> {
  const rows = await query
    .selectFrom('collection_mods')
    .select('mod_id')
    .where('collection_id', '=', collectionId)
    .orderBy('place')
    .execute();
  return rows.map((row) => row.mod_id);
}

/** A mod that a request adds to a collection. */
export type Candidate = Pick<
  Selectable<Tables['mods']>,
  'id' | 'game_id' | 'status' | 'visible' | 'price' | 'monetization_options' | 'community_options'
> & { game_status: number };

const AT_ONCE = 500;

function chunks<T>(items: readonly T[]): T[][] {
  const found: T[][] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) found.push(items.slice(start, start + AT_ONCE));
  return found;
}

/** Locks the mods, so that none of them is removed before it is in the collection. */
export async function candidates(db: Pick<Database, 'dialect'>, { query }: Transaction, ids: readonly number[]) {
  const found = new Map<number, Candidate>();
  for (const some of chunks([...ids].sort((a, b) => a - b))) {
    const { rows } = await sql<Candidate>`
      select m.id, m.game_id, m.status, m.visible, m.price, m.monetization_options, m.community_options,
        g.status as game_status
      from mods m join games g on g.id = m.game_id where m.id in (${sql.join(some)}) order by m.id ${shareLock(db.dialect, 'm')}`.execute(
      query,
    );
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** The dependencies of these mods, if their game has dependencies. */
export async function needsOf(query: Query, ids: readonly number[]): Promise<number[]> {
  const needed = new Set<number>();
  for (const some of chunks(ids)) {
    const rows = await query
      .selectFrom('mod_dependencies as d')
      .innerJoin('mods as m', 'm.id', 'd.mod_id')
      .innerJoin('games as g', 'g.id', 'm.game_id')
      .select('d.dependency_id')
      .where('g.dependency_option', '<>', 0)
      .where('d.mod_id', 'in', some)
      .execute();
    for (const { dependency_id } of rows) needed.add(dependency_id);
  }
  return [...needed];
}

const LAST_PLACE = statement('select max(place) as place from collection_mods where collection_id = ?');

export async function addMods(transaction: Transaction, collectionId: number, ids: readonly number[], now: number) {
  const last = await transaction.first<{ place: number | null }>(LAST_PLACE, [collectionId]);
  let place = Number(last?.place ?? 0);
  for (const some of chunks(ids))
    await transaction.query
      .insertInto('collection_mods')
      .values(some.map((id) => ({ collection_id: collectionId, mod_id: id, place: ++place, date_added: now })))
      .execute();
}

/** Puts all mods of a collection in this order. */
export async function orderMods(query: Query, collectionId: number, ids: readonly number[]): Promise<void> {
  const before = await modIdsOf(query, collectionId);
  if (before.every((id, index) => id === ids[index])) return;
  let place = 0;
  for (const some of chunks(ids)) {
    const places = some.map((id) => sql`when ${id} then cast(${++place} as integer)`);
    await sql`update collection_mods set place = case mod_id ${sql.join(places, sql` `)} end
      where collection_id = ${collectionId} and mod_id in (${sql.join(some)})`.execute(query);
  }
}

export async function removeMods(query: Query, collectionId: number, ids: readonly number[]): Promise<void> {
  for (const some of chunks(ids))
    await query
      .deleteFrom('collection_mods')
      .where('collection_id', '=', collectionId)
      .where('mod_id', 'in', some)
      .execute();
}

/** Removes a mod from every collection. Returns the collections that contained it. */
export async function removeModEverywhere(query: Query, modId: number): Promise<number[]> {
  const held = query.deleteFrom('collection_mods').where('mod_id', '=', modId).returning('collection_id');
  return (await held.execute()).map((row) => row.collection_id);
}

const CLAIM = statement(`update collections set registering_until = ? where id = ? and registering_until <= ?
  returning id`);
/** Returns false while another request changes the collection’s mods. */
export async function claim(transaction: Transaction, id: number, now: number, until: number): Promise<boolean> {
  return (await transaction.first(CLAIM, [until, id, now])) !== undefined;
}

const RELEASE = statement('update collections set registering_until = 0 where id = ? and registering_until = ?');
export const release = (transaction: Transaction, id: number, until: number) => transaction.run(RELEASE, [id, until]);

export const add = (query: Query, row: Insertable<CollectionsTable>): Promise<CollectionRow> =>
  query.insertInto('collections').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, changes: Updateable<CollectionsTable>): Promise<CollectionRow> =>
  query.updateTable('collections').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

export const putWords = (query: Query, { id, name }: Pick<CollectionRow, 'id' | 'name'>) =>
  putNameWords(query, { table: 'collection_words', key: 'collection_id' }, id, name);

/** Stored folded, as filters compare them. */
export async function putTags(query: Query, collectionId: number, tags: readonly string[]): Promise<void> {
  await query.deleteFrom('collection_tags').where('collection_id', '=', collectionId).execute();
  if (tags.length > 0)
    await query
      .insertInto('collection_tags')
      .values(tags.map((tag) => ({ collection_id: collectionId, tag: tag.toLowerCase() })))
      .execute();
}

export async function remove(query: Query, id: number): Promise<void> {
  await query.deleteFrom('collection_mods').where('collection_id', '=', id).execute();
  await query.deleteFrom('collection_tags').where('collection_id', '=', id).execute();
  await query.deleteFrom('collection_words').where('collection_id', '=', id).execute();
  await query.deleteFrom('collection_followers').where('collection_id', '=', id).execute();
  await query.deleteFrom('collection_ratings').where('collection_id', '=', id).execute();
  await query.deleteFrom('collection_rating_days').where('collection_id', '=', id).execute();
  await query.deleteFrom('collections').where('id', '=', id).execute();
}

const COUNTED = ['followers_total', 'ratings_positive', 'ratings_negative', 'comments_total'] as const;
const COUNT = statement(`update collections set ${COUNTED.map((name) => `${name} = ${name} + ?`).join(', ')}
  where id = ?`);
export const count = (
  transaction: Transaction,
  id: number,
  difference: Partial<Record<(typeof COUNTED)[number], number>>,
) => transaction.run(COUNT, [...COUNTED.map((name) => difference[name] ?? 0), id]);

const FOLLOW = statement(`insert into collection_followers (collection_id, user_id, date_added) values (?, ?, ?)
  on conflict (collection_id, user_id) do nothing returning user_id`);
/** Returns false if the user already follows it. */
export async function follow(transaction: Transaction, id: number, userId: number, now: number): Promise<boolean> {
  return (await transaction.first(FOLLOW, [id, userId, now])) !== undefined;
}

const UNFOLLOW = statement(
  'delete from collection_followers where collection_id = ? and user_id = ? returning user_id',
);
/** Returns false if the user did not follow it. */
export async function unfollow(transaction: Transaction, id: number, userId: number): Promise<boolean> {
  return (await transaction.first(UNFOLLOW, [id, userId])) !== undefined;
}

const RATING = statement('select * from collection_ratings where collection_id = ? and user_id = ?');
export const ratingOf = (transaction: Transaction, id: number, userId: number) =>
  transaction.first<Selectable<CollectionRatingsTable>>(RATING, [id, userId]);

const RATE = statement(`insert into collection_ratings (collection_id, user_id, rating, date_added) values (?, ?, ?, ?)
  on conflict (collection_id, user_id) do update set rating = excluded.rating, date_added = excluded.date_added`);
export const rate = (transaction: Transaction, row: Selectable<CollectionRatingsTable>) =>
  transaction.run(RATE, [row.collection_id, row.user_id, row.rating, row.date_added]);

const UNRATE = statement('delete from collection_ratings where collection_id = ? and user_id = ?');
export const unrate = (transaction: Transaction, id: number, userId: number) => transaction.run(UNRATE, [id, userId]);

const COUNT_DAY = statement(`insert into collection_rating_days (collection_id, day, positive) values (?, ?, ?)
  on conflict (collection_id, day) do update set positive = collection_rating_days.positive + excluded.positive`);
const FORGET_DAYS = statement('delete from collection_rating_days where collection_id = ? and day <= ?');

/** The next rating removes days that are no longer recent. */
export async function countDay(transaction: Transaction, id: number, day: number, positive: number, beforeDay: number) {
  await transaction.run(COUNT_DAY, [id, day, positive]);
  await transaction.run(FORGET_DAYS, [id, beforeDay]);
}

const JUDGED_BY = statement(`select collection_id from collection_followers where user_id = ?
  union select collection_id from collection_ratings where user_id = ? order by collection_id limit ?`);
/** The collections that the user follows or has rated. */
export async function ratedOrFollowedBy(transaction: Transaction, userId: number, most: number): Promise<number[]> {
  const rows = await transaction.all<{ collection_id: number }>(JUDGED_BY, [userId, userId, most]);
  return rows.map(({ collection_id }) => collection_id);
}

const IS_FOLLOWER = statement('select user_id from collection_followers where collection_id = ? and user_id = ?');
export const isFollower = async (transaction: Transaction, id: number, userId: number): Promise<boolean> =>
  (await transaction.first(IS_FOLLOWER, [id, userId])) !== undefined;

const MOVE_FOLLOWER = statement('update collection_followers set user_id = ? where collection_id = ? and user_id = ?');
export const moveFollower = (transaction: Transaction, id: number, from: number, to: number) =>
  transaction.run(MOVE_FOLLOWER, [to, id, from]);

const MOVE_RATING = statement('update collection_ratings set user_id = ? where collection_id = ? and user_id = ?');
export const moveRating = (transaction: Transaction, id: number, from: number, to: number) =>
  transaction.run(MOVE_RATING, [to, id, from]);

/** Counts the comments, followers and ratings of imported collections. */
export async function recount({ query }: Pick<Transaction, 'query'>, ids: readonly number[]): Promise<void> {
  const rated = (sign: string) => sql`(select count(*) from collection_ratings r
    where r.collection_id = collections.id and r.rating ${sql.raw(sign)} 0)`;
  await sql`update collections set comments_total = (select count(*) from comments c where c.resource = 'collections'
      and c.resource_id = collections.id and c.date_deleted = 0 and c.withheld = 0),
      followers_total = (select count(*) from collection_followers f where f.collection_id = collections.id),
      ratings_positive = ${rated('>')}, ratings_negative = ${rated('<')}
    where id in (${sql.join(ids)})`.execute(query);
}
