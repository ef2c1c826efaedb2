import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Transaction,
  updateOf,
  type Value,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { isNotMutedBy } from '../../platform/database/muted.ts';
import { USER } from '../../platform/database/people.ts';
import { putNameWords } from '../../platform/database/search.ts';
import type { GuidesTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type GuideRow = Selectable<GuidesTable>;

const GUIDE_COLUMNS = [
  'game_id',
  'status',
  'date_live',
  'date_added',
  'date_updated',
  'community_options',
  'visits_today',
  'visits_total',
  'comments_total',
  'name',
  'logo',
  'summary',
  'description',
] as const;

const BY_ID = statement('select * from guides where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<GuideRow>(BY_ID, [id]);

/** On PostgreSQL this locks the guide; on SQLite there is one writer anyway. */
const FOR_CHANGE = withUpdateLock(BY_ID);
export const rowForChange = (transaction: Transaction, id: number) => transaction.first<GuideRow>(FOR_CHANGE, [id]);

const CURATION = statement('select curation_option from games where id = ?');
export async function curationOf(reader: Reader, gameId: number): Promise<number> {
  return (await reader.first<{ curation_option: number }>(CURATION, [gameId]))?.curation_option ?? 0;
}

/** Only the game’s team uses these tags, which are in locked or hidden groups. */
export async function reservedTags(query: Query, gameId: number): Promise<string[]> {
  const rows = await query
    .selectFrom('game_tags as t')
    .innerJoin('game_tag_groups as g', 'g.id', 't.group_id')
    .select('t.name')
    .where('g.game_id', '=', gameId)
    .where((eb) => eb.or([eb('g.locked', '=', 1), eb('g.hidden', '=', 1)]))
    .execute();
  return rows.map(({ name }) => name);
}

/** The guides of a list, and those of them that the caller may see. */
export interface GuideScope {
  readonly gameId: number;
  readonly now: number;
  /** For the game’s team: all states. */
  readonly everything: boolean;
  /** This user’s guides are visible in every state but deleted. */
  readonly ownId: number | undefined;
  /** The request filters by it. By default lists contain public guides. */
  readonly asksStatus: boolean;
  /** Excludes guides of users whom this user has muted. */
  readonly muterId: number | undefined;
}

function within(query: Query, { gameId, now, everything, ownId, asksStatus, muterId }: GuideScope) {
  let guides = query
    .selectFrom('guides as r')
    .innerJoin('users as u', 'u.id', 'r.submitted_by')
    .where('r.game_id', '=', gameId);
  if (muterId !== undefined) guides = guides.where(isNotMutedBy(muterId, 'r.submitted_by'));
  if (!asksStatus) return guides.where('r.status', '=', 1).where('r.date_live', '<=', now);
  if (everything) return guides;
  return guides.where((eb) => {
    const isLive = eb.and([eb('r.status', '=', 1), eb('r.date_live', '<=', now)]);
    if (ownId === undefined) return isLive;
    return eb.or([isLive, eb.and([eb('r.submitted_by', '=', ownId), eb('r.status', '<>', 3)])]);
  });
}

const shown = (query: Query, ids: readonly number[]) =>
  query
    .selectFrom('guides as r')
    .innerJoin('users as u', 'u.id', 'r.submitted_by')
    .innerJoin('games as g', 'g.id', 'r.game_id')
    .where('r.id', 'in', ids)
    .select(GUIDE_COLUMNS.map((name) => `r.${name}` as const))
    .select(['r.id as guide_id', 'r.name_id as guide_name_id', 'g.name as game_name', 'g.name_id as game_name_id'])
    .select(USER);

type Shown = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

interface GuideTag {
  readonly name: string;
  readonly date_added: number;
  /** The number of public guides with the tag. */
  readonly count: number;
}

/** A guide with its tags and its submitter’s columns, which have their own names. */
export type StoredGuide = Shown & { readonly tags: readonly GuideTag[] };

export async function list(query: Query, scope: GuideScope, listing: Listing, request: ListRequest) {
  const wanted = () => narrowed(within(query, scope), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const ids = (await paged(wanted().select('r.id'), listing, request).execute()).map(({ id }) => id);
  return { guides: await guidesOf(query, ids, scope), total: Number(total) };
}

/** Ordered by id. */
export async function guidesOf(
  query: Query,
  ids: readonly number[],
  { gameId, now }: Pick<GuideScope, 'gameId' | 'now'>,
): Promise<StoredGuide[]> {
  if (ids.length === 0) return [];
  const rows = new Map((await shown(query, ids).execute()).map((row) => [row.guide_id, row]));
  const tags = await query.selectFrom('guide_tags').selectAll().where('guide_id', 'in', ids).orderBy('name').execute();
  const names = [...new Set(tags.map(({ name_folded }) => name_folded))];
  const counts = new Map((await countsOf(query, gameId, now, names)).map((row) => [row.name_folded, row.count]));
  return ids.flatMap((id) => {
    const row = rows.get(id);
    const own = tags.filter(({ guide_id }) => guide_id === id);
    const told = own.map(({ name, name_folded, date_added }) => ({
      name,
      date_added,
      count: Number(counts.get(name_folded) ?? 0),
    }));
    return row ? [{ ...row, tags: told }] : [];
  });
}

const liveTags = (query: Query, gameId: number, now: number) =>
  query
    .selectFrom('guide_tags as t')
    .innerJoin('guides as r', 'r.id', 't.guide_id')
    .where('r.game_id', '=', gameId)
    .where('r.status', '=', 1)
    .where('r.date_live', '<=', now)
    .groupBy('t.name_folded');

/** Also runs without names, so that every page costs the same number of queries. */
const countsOf = (query: Query, gameId: number, now: number, names: readonly string[]) =>
  liveTags(query, gameId, now)
    .select(['t.name_folded', sql<number>`count(*)`.as('count')])
    .where('t.name_folded', 'in', names.length > 0 ? names : [''])
    .execute();

/** The tags of public guides, ordered by name. */
export async function listTags(
  query: Query,
  gameId: number,
  now: number,
  { limit, offset }: Pick<ListRequest, 'limit' | 'offset'>,
) {
  const { total } = await query
    .selectFrom(liveTags(query, gameId, now).select('t.name_folded').as('names'))
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await liveTags(query, gameId, now)
    .select([
      sql<string>`min(t.name)`.as('name'),
      sql<number>`min(t.date_added)`.as('date_added'),
      sql<number>`count(*)`.as('count'),
    ])
    .orderBy('t.name_folded')
    .limit(limit)
    .offset(offset)
    .execute();
  const tags: GuideTag[] = rows.map((row) => ({
    ...row,
    date_added: Number(row.date_added),
    count: Number(row.count),
  }));
  return { tags, total: Number(total) };
}

const NEXT = statement('select min(date_live) as next from guides where game_id = ? and status = 1 and date_live > ?');
/** When the next scheduled guide of the game goes live. */
export async function nextLive(reader: Reader, gameId: number, now: number): Promise<number | undefined> {
  return (await reader.first<{ next: number | null }>(NEXT, [gameId, now]))?.next ?? undefined;
}

export const add = (query: Query, row: Insertable<GuidesTable>): Promise<GuideRow> =>
  query.insertInto('guides').values(row).returningAll().executeTakeFirstOrThrow();

/** Returns the changed guide. */
export async function change(transaction: Transaction, id: number, changes: Updateable<GuidesTable>) {
  const set = Object.entries(changes).filter(([, value]) => value !== undefined) as [string, Value][];
  const update = updateOf(
    'guides',
    set.map(([name]) => name),
  );
  return (await transaction.first<GuideRow>(update, [...set.map(([, value]) => value), id]))!;
}

/** Tags that stay keep their date. */
export async function putTags(
  query: Query,
  guideId: number,
  tags: readonly { name: string; name_folded: string }[],
  now: number,
): Promise<void> {
  const kept = tags.map(({ name_folded }) => name_folded);
  const old = query.deleteFrom('guide_tags').where('guide_id', '=', guideId);
  await (kept.length > 0 ? old.where('name_folded', 'not in', kept) : old).execute();
  if (tags.length === 0) return;
  await query
    .insertInto('guide_tags')
    .values(tags.map((tag) => ({ ...tag, guide_id: guideId, date_added: now })))
    .onConflict((key) =>
      key.columns(['guide_id', 'name_folded']).doUpdateSet((eb) => ({ name: eb.ref('excluded.name') })),
    )
    .execute();
}

export async function tagNames(query: Query, guideId: number): Promise<string[]> {
  const rows = await query.selectFrom('guide_tags').select('name_folded').where('guide_id', '=', guideId).execute();
  return rows.map(({ name_folded }) => name_folded);
}

export const putWords = (query: Query, { id, name }: Pick<GuideRow, 'id' | 'name'>) =>
  putNameWords(query, { table: 'guide_words', key: 'guide_id' }, id, name);

const COUNT_COMMENTS = statement('update guides set comments_total = comments_total + ? where id = ?');
export const countComments = (transaction: Transaction, id: number, difference: number) =>
  transaction.run(COUNT_COMMENTS, [difference, id]);

const VISIT = statement('select hour from guide_visits where guide_id = ? and visitor = ?');
export async function isVisitor(reader: Reader, guideId: number, visitor: string): Promise<boolean> {
  return (await reader.first(VISIT, [guideId, visitor])) !== undefined;
}

const ADD_VISIT = statement(`insert into guide_visits (guide_id, visitor, hour) values (?, ?, ?)
  on conflict (guide_id, visitor) do nothing returning hour`);
const COUNT_VISIT = statement(
  'update guides set visits_today = visits_today + 1, visits_total = visits_total + 1 where id = ?',
);
/** Returns false if the visitor was already counted, also by a concurrent request. */
export async function addVisit(transaction: Transaction, guideId: number, visitor: string, hour: number) {
  if (!(await transaction.first(ADD_VISIT, [guideId, visitor, hour]))) return false;
  await transaction.run(COUNT_VISIT, [guideId]);
  return true;
}

const VISITED_BEFORE = statement(`select distinct v.guide_id as id, r.game_id from guide_visits v
  join guides r on r.id = v.guide_id where v.hour < ? order by v.guide_id limit ?`);
export const guidesVisitedBefore = (db: Database, hour: number, most: number) =>
  db.all<{ id: number; game_id: number }>(VISITED_BEFORE, [hour, most]);

const TAKE_VISITS = statement('delete from guide_visits where guide_id = ? and hour < ? returning hour');
const FORGET_VISITS = statement('update guides set visits_today = visits_today - ? where id = ?');
export async function forgetVisits(transaction: Transaction, guideId: number, hour: number): Promise<void> {
  const gone = await transaction.all(TAKE_VISITS, [guideId, hour]);
  await transaction.run(FORGET_VISITS, [gone.length, guideId]);
}

/** Counts the comments of imported guides. */
export async function recount({ query }: Pick<Transaction, 'query'>, ids: readonly number[]): Promise<void> {
  await sql`update guides set comments_total = (select count(*) from comments c where c.resource = 'guides'
      and c.resource_id = guides.id and c.date_deleted = 0 and c.withheld = 0)
    where id in (${sql.join(ids)})`.execute(query);
}
