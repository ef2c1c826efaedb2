import { sql } from 'kysely';
import type { Database, Query } from '../../platform/database/database.ts';
import { endOfRange, type Filter, fold, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { isMutedBy } from '../../platform/database/muted.ts';
import { withLikelyWords } from '../../platform/database/search.ts';
import { memoised, totalOf } from '../../platform/database/totals.ts';
import { pairsOf } from '../../platform/database/words.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import * as documentStore from './document-store.ts';
import * as listStore from './list-store.ts';
import { modListing } from './listing.ts';
import * as searchStore from './search-store.ts';
import type * as store from './store.ts';
import { wordsScope } from './words.ts';

type Found = listStore.Found;

export async function findMods(
  db: Database,
  scope: listStore.ModScope,
  request: ListRequest,
  language: string,
  platform?: Platform,
): Promise<{ mods: documentStore.StoredMod[]; total: number }> {
  const found = await findIds(db, scope, request);
  const documents = await documentStore.documentsOf(db.query, found.ids, language, platform);
  return { mods: found.ids.flatMap((id) => documents.get(id) ?? []), total: found.total };
}

/**
 * Finds the list as for all callers, longer by the muted authors' mods in it, and drops those afterwards. Every
 * strategy below and the cached counts stay independent of mutes that way.
 */
async function findUnmuted(db: Database, scope: listStore.ModScope, request: ListRequest): Promise<Found> {
  const { muterId } = scope;
  if (muterId === undefined) return find(db, scope, request);
  const wanted = narrowed(listStore.within(db.query, scope), modListing, { ...request, probing: true });
  const muted = new Set(
    (await wanted.where(isMutedBy(muterId, 'm.submitted_by')).select('m.id').execute()).map(({ id }) => id),
  );
  const { offset, limit } = request;
  const found = await find(db, scope, { ...request, offset: 0, limit: offset + limit + muted.size });
  const ids = found.ids.filter((id) => !muted.has(id)).slice(offset, offset + limit);
  return { ids, total: found.total - muted.size };
}

export const findIds = async (db: Database, scope: listStore.ModScope, request: ListRequest): Promise<Found> =>
  findUnmuted(db, scope, request.words.length > 0 ? await withLikelyWords(db, request) : request);

function find(db: Database, scope: listStore.ModScope, request: ListRequest): Promise<Found> {
  if (!listStore.isDefault(scope) || scope.platformStatus !== undefined) return findAny(db, scope, request);
  return listStore.isForAll(scope)
    ? findPublic(db, scope, scope.gameId!, request)
    : findOnPlatform(db, scope, scope.gameId!, request);
}

/** The public mods that are live on this platform. */
async function findOnPlatform(
  db: Database,
  scope: listStore.ModScope,
  gameId: number,
  request: ListRequest,
): Promise<Found> {
  const all = await publicModsOf(db, gameId);
  const { groups, words, likely } = request;
  const total = await totalOf(db, {
    scope: `games/${gameId}/mods`,
    asked: { platform: scope.platform, groups, words, likely },
    among: all,
    count: (query) => count(query, scope, request),
  });
  return { ids: await page(db.query, scope, { ...request, probing: isDense(request, total, all) }, total), total };
}

const publicModsOf = (db: Database, gameId: number): Promise<number> =>
  memoised(db.changes, {
    scope: `games/${gameId}`,
    asked: 'public mods',
    find: () => listStore.publicModsOf(db, gameId),
  });

/** Lists that only some callers may see are short, so they are scanned. */
async function findAny(db: Database, scope: listStore.ModScope, request: ListRequest): Promise<Found> {
  const { ownId, subscriberId, buyerId, authorId } = scope;
  const isOwn = [ownId, subscriberId, buyerId, authorId].some((id) => id !== undefined);
  const asked = { ...request, probing: isOwn };
  // A team sees all mods of its game, and site staff all mods of all games.
  const total = await count(isOwn ? db.query : db.readInWorker, scope, asked);
  return { ids: await page(db.query, scope, asked, total), total };
}

async function count(query: Query, scope: listStore.ModScope, request: ListRequest): Promise<number> {
  const wanted = narrowed(listStore.within(query, scope), modListing, request);
  return Number((await wanted.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()).total);
}

async function page(query: Query, scope: listStore.ModScope, request: ListRequest, total: number): Promise<number[]> {
  if (total <= request.offset) return [];
  const wanted = narrowed(listStore.within(query, scope), modListing, request);
  return (await paged(wanted.select('m.id'), modListing, request).execute()).map((row) => row.id);
}

async function findPublic(
  db: Database,
  scope: listStore.ModScope,
  gameId: number,
  request: ListRequest,
): Promise<Found> {
  const { query } = db;
  const all = await publicModsOf(db, gameId);
  if (request.groups.length === 0 && request.words.length === 0)
    return {
      ids: all > request.offset ? await publicPage(db, gameId, request) : [],
      total: all,
    };
  const named = idsAlone(request);
  if (named) return listStore.publicAmong(db, gameId, named, request);
  if (isSearchAlone(request)) return search(db, gameId, request, all);
  const asked = await withTagIds(query, gameId, request);
  const tags = allOfTags(asked);
  if (tags?.every(({ id }) => id === UNKNOWN_TAG)) return { ids: [], total: 0 };
  const { groups, words, likely } = asked;
  const isCounted = tags !== undefined && tags.length <= 2;
  const total = await totalOf(db, {
    scope: `games/${gameId}/mods`,
    asked: { groups, words, likely },
    among: isCounted ? 0 : all,
    count: (query) => (isCounted ? countTags(query, tags) : count(query, scope, asked)),
  });
  if (tags && isByPopularity(asked)) return { ids: await pageOfTags(query, tags, asked, total), total };
  return { ids: await page(query, scope, { ...asked, probing: isDense(asked, total, all) }, total), total };
}

/** The ids of a list that filters by nothing else, in the order of ids. Launchers name hundreds of mods this way. */
function idsAlone({ groups, words, sort }: ListRequest): readonly number[] | undefined {
  const filter = groups.length === 1 && groups[0]!.length === 1 ? groups[0]![0]! : undefined;
  const isAlone = filter?.column.name === 'id' && filter.operator === 'in' && words.length === 0 && sort === undefined;
  return isAlone && filter.values.every(Number.isSafeInteger) ? (filter.values as readonly number[]) : undefined;
}

/** Deep pages start at the nearest remembered position; positions are this many rows apart. */
const POSITIONS_APART = 1_000;

/**
 * An `offset` reads all rows before the page, so deep pages start from a remembered position. A client that pages on
 * reuses it.
 */
async function publicPage(db: Database, gameId: number, { sort, limit, offset }: ListRequest): Promise<number[]> {
  const order: listStore.Order = sort ?? { sql: 'm.id', descending: false };
  if (offset < POSITIONS_APART) return listStore.publicPage(db, gameId, order, { limit, offset });
  const before = offset - (offset % POSITIONS_APART);
  const position = await memoised(db.changes, {
    scope: `games/${gameId}/mods`,
    asked: { order, before },
    find: async () => listStore.positionAt(db, gameId, order, before),
  });
  if (!position) return [];
  const skipped = offset - before;
  const equal = await listStore.countEqual(db, gameId, order, position, skipped + limit);
  const ids = equal > skipped ? await listStore.equalFrom(db, gameId, order, position, { limit, offset: skipped }) : [];
  if (ids.length === limit) return ids;
  const rest = { limit: limit - ids.length, offset: Math.max(0, skipped - equal) };
  return [...ids, ...(await listStore.afterEqual(db, gameId, order, position, rest))];
}

/** When the page fills up after reading fewer rows than there are matches, scanning in list order is cheaper. */
const isDense = ({ offset, limit }: ListRequest, total: number, all: number) => (offset + limit) * all < total * total;

const UNKNOWN_TAG = 0;
interface AskedTag {
  readonly id: number;
  readonly mods: number;
}
type TagFilter = Filter & { readonly tags: readonly AskedTag[] };

/** Within a game tags are matched by id, because ids have indexes and counts. */
async function withTagIds(query: Query, gameId: number, request: ListRequest): Promise<ListRequest> {
  if (!request.groups.some((group) => group.some(isOfTags))) return request;
  const known = new Map(
    (await listStore.tagsOfGame(query, gameId)).map(({ id, name, mods }) => [fold(name), { id, mods }]),
  );
  const resolved = (filter: Filter): Filter | TagFilter => {
    if (!isOfTags(filter)) return filter;
    const tags = filter.values.map((name) => known.get(String(name)) ?? { id: UNKNOWN_TAG, mods: 0 });
    return { ...filter, column: { ...filter.column, ...BY_TAG_ID }, values: tags.map(({ id }) => id), tags };
  };
  return { ...request, groups: request.groups.map((group) => group.map(resolved)) };
}

const isOfTags = ({ column }: Filter) => column.name === 'tags';
const BY_TAG_ID = {
  sql: 'select x.mod_id from mod_tags x where x.tag_id',
  probe: 'select 1 from mod_tags x where x.mod_id = m.id and x.tag_id',
};

/** The required tags if the request filters by nothing else, the rarest first. */
function allOfTags({ groups, words }: ListRequest): AskedTag[] | undefined {
  if (words.length > 0) return undefined;
  const filters: Filter[] = groups.map((group) => group[0]!);
  const isPlain = groups.every((group) => group.length === 1 && isOfTags(group[0]!) && group[0]!.operator === 'eq');
  if (!isPlain) return undefined;
  const tags = new Map(filters.flatMap((filter) => (filter as TagFilter).tags.map((tag) => [tag.id, tag] as const)));
  return tags.size > 0 ? [...tags.values()].sort((a, b) => a.mods - b.mods) : undefined;
}

async function countTags(query: Query, tags: readonly AskedTag[]): Promise<number> {
  const [first, second] = tags;
  return second ? listStore.modsWithBoth(query, first!.id, second.id) : first!.mods;
}

const isByPopularity = ({ sort }: ListRequest) => sort?.sql === modListing.popularity && sort!.descending;

/** Reads the mods of the rarest tag in list order and checks each for the other tags. */
async function pageOfTags(
  query: Query,
  [rarest, ...others]: readonly AskedTag[],
  { limit, offset }: ListRequest,
  total: number,
): Promise<number[]> {
  if (total <= offset) return [];
  return listStore.byPopularity(
    query,
    rarest!.id,
    others.map(({ id }) => id),
    { limit, offset },
  );
}

const RANKED_MAX = 2_000;

/** A search by words alone, sorted by relevance, within the depth that search pages reach. */
const isSearchAlone = ({ groups, words, sort, offset }: ListRequest) =>
  words.length > 0 && groups.length === 0 && !sort && offset < RANKED_MAX;

const EXPANDED_MAX = 40;
/** A prefix that one in this many mods has is found faster by scanning mods in list order. */
const DENSE_SHARE = 50;

interface Beginning {
  readonly word: string;
  /** The indexed words with this prefix and how many mods have each; nothing where there are too many. */
  readonly words: readonly searchStore.KnownWord[] | undefined;
}

/**
 * Mods are indexed by word, the most popular first. The lists are read in order of relevance (two words, a whole word,
 * a prefix, a typo), each only after those before it are exhausted, so duplicates can only come from earlier lists.
 */
async function search(db: Database, gameId: number, request: ListRequest, all: number): Promise<Found> {
  const { query } = db;
  const { words, offset, limit } = request;
  const beginnings: Beginning[] = [];
  for (const word of words) {
    const known = await searchStore.wordsBetween(query, gameId, word, endOfRange(word), EXPANDED_MAX + 1);
    beginnings.push({ word, words: known.length > EXPANDED_MAX ? undefined : known });
  }
  const mistyped = await searchStore.knownWords(query, gameId, request.likely ?? []);
  const total = await countFound(db, gameId, beginnings, mistyped, all);
  const need = Math.min(offset + limit, total);
  const found = new Set<number>();
  const take = (mods: readonly store.Ranked[]) => {
    for (const { id } of mods) if (found.size < need) found.add(id);
  };
  const ofTerms = async (terms: readonly string[]) => {
    if (terms.length > 0 && found.size < need) take(await mostPopularOf(query, gameId, terms, need));
  };
  await ofTerms(pairsOf(words));
  await ofTerms(words);
  if (beginnings.every((each) => each.words))
    await ofTerms(beginnings.flatMap((each) => each.words!.map(({ word }) => word)));
  else if (found.size < need) take(await beginningWith(query, gameId, words, need, all));
  await ofTerms(mistyped.map(({ word }) => word));
  return { ids: [...found].slice(offset), total };
}

const LISTS_AT_ONCE = 100;

async function mostPopularOf(
  query: Query,
  gameId: number,
  terms: readonly string[],
  most: number,
): Promise<store.Ranked[]> {
  const mods: store.Ranked[] = [];
  for (let start = 0; start < terms.length; start += LISTS_AT_ONCE)
    mods.push(...(await searchStore.mostPopularOf(query, gameId, terms.slice(start, start + LISTS_AT_ONCE), most)));
  return mods.sort((a, b) => b.popularity - a.popularity || a.id - b.id);
}

async function beginningWith(
  query: Query,
  gameId: number,
  words: readonly string[],
  need: number,
  all: number,
): Promise<store.Ranked[]> {
  const ranges = words.map((word) => ({ from: word, to: endOfRange(word) }));
  const mods = await searchStore.modsBetween(query, gameId, ranges);
  return mods * DENSE_SHARE > all
    ? searchStore.probedBetween(query, gameId, ranges, need)
    : searchStore.sortedBetween(query, gameId, ranges, need);
}

/** A single word has a stored count; for several words, a mod that has two of them counts once. */
async function countFound(
  db: Database,
  gameId: number,
  beginnings: readonly Beginning[],
  mistyped: readonly searchStore.KnownWord[],
  all: number,
): Promise<number> {
  const named = new Map<string, number>();
  for (const { word, mods } of [...beginnings.flatMap(({ words }) => words ?? []), ...mistyped]) named.set(word, mods);
  const wide = beginnings.filter(({ words }) => !words).map(({ word }) => ({ from: word, to: endOfRange(word) }));
  const counts = [...named.values()].filter((mods) => mods > 0);
  if (wide.length === 0 && counts.length <= 1) return counts[0] ?? 0;
  const words = [...named.keys()];
  return totalOf(db, {
    scope: wordsScope(gameId),
    asked: { words, wide },
    among: all,
    count: (query) => searchStore.modsWithAny(query, gameId, words, wide),
  });
}
