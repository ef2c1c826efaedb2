import type { Client, Mod } from '@modstead/client';
import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import { numberOf, textOf } from '../actions.ts';
import type { PageServerLoadEvent } from './$types';
import { lastVisit } from './visits.ts';

const PER_PAGE = 24;
const SORTS = ['-date_updated', 'name', '-date_live'] as const;
const VIEWS = ['subscribed', 'collections', 'purchased'] as const;
/** The games of more mods than this are not offered as a filter. */
const FILTERED_MODS_MAX = 300;
const GAMES_MAX = 100;

type Listed = 'GET /me/subscribed' | 'GET /me/purchased';

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const { searchParams } = event.url;
  const view = VIEWS.find((name) => name === searchParams.get('view')) ?? VIEWS[0];
  const shared = { view, views: VIEWS, sorts: SORTS, ...pagingOf(event.url, PER_PAGE) };
  if (view === 'collections') return { ...shared, ...(await followedCollections(api, shared.part)) };
  const since = lastVisit(event.cookies);
  const operation = view === 'purchased' ? 'GET /me/purchased' : 'GET /me/subscribed';
  return { ...shared, ...(await ownMods(api, operation, searchParams, { part: shared.part, since })) };
}

async function followedCollections(api: Client, part: object) {
  const found = await api.call('GET /me/following/collections', { _sort: '-date_updated', ...part });
  const games = await gamesOf(api, found.data);
  return {
    total: found.result_total,
    collections: found.data.map((collection) => ({ collection, game: games.get(collection.game_id) })),
    mods: [],
    games: [],
    gameId: undefined,
    since: undefined,
    updated: 0,
    isUpdatedOnly: false,
    sort: SORTS[0],
  };
}

async function ownMods(
  api: Client,
  operation: Listed,
  asked: URLSearchParams,
  { part, since }: { part: object; since: number | undefined },
) {
  const sort = SORTS.find((name) => name === asked.get('sort')) ?? SORTS[0];
  const game = Number(asked.get('game'));
  const gameId = Number.isInteger(game) && game > 0 ? game : undefined;
  const isUpdatedOnly = since !== undefined && asked.get('show') === 'updated';
  const inGame = gameId === undefined ? {} : { game_id: gameId };
  const afterVisit = since === undefined ? undefined : { 'date_updated-min': since };
  const [found, updated, ids] = await Promise.all([
    api.call(operation, { _sort: sort, ...inGame, ...(isUpdatedOnly && afterVisit), ...part }),
    afterVisit ? api.call(operation, { ...inGame, ...afterVisit, _limit: 1 }) : undefined,
    gameIdsOf(api, operation),
  ]);
  const games = await gamesOf(
    api,
    [...ids, ...found.data.map(({ game_id }) => game_id)].map((game_id) => ({ game_id })),
  );
  return {
    total: found.result_total,
    // The game may be hidden meanwhile; the subscription stays.
    mods: found.data.map((mod) => ({ mod, game: games.get(mod.game_id)?.name, isNew: isNewer(mod, since) })),
    collections: [],
    games: ids.flatMap((id) => games.get(id) ?? []).map(({ id, name }) => ({ id, name })),
    gameId,
    since,
    updated: updated?.result_total ?? 0,
    isUpdatedOnly,
    sort,
  };
}

const isNewer = ({ modfile }: Mod, since: number | undefined): boolean =>
  since !== undefined && 'date_added' in modfile && modfile.date_added > since;

async function gameIdsOf(api: Client, operation: Listed): Promise<number[]> {
  const ids = new Set<number>();
  for (let offset = 0; offset < FILTERED_MODS_MAX; offset += GAMES_MAX) {
    const { data, result_total } = await api.call(operation, { _limit: GAMES_MAX, _offset: offset });
    for (const { game_id } of data) ids.add(game_id);
    if (offset + data.length >= result_total) break;
  }
  return [...ids];
}

async function gamesOf(api: Client, of: readonly { readonly game_id: number }[]) {
  const ids = [...new Set(of.map(({ game_id }) => game_id))].slice(0, GAMES_MAX);
  const games =
    ids.length > 0 ? (await api.call('GET /games', { 'id-in': ids, _sort: 'name', _limit: GAMES_MAX })).data : [];
  return new Map(games.map((game) => [game.id, game]));
}

/** What an undo needs, with the name that the page shows. */
const named = (form: FormData, field: 'mod_id' | 'collection_id') => ({
  game_id: numberOf(form, 'game_id'),
  field,
  id: numberOf(form, field),
  name: textOf(form, 'name'),
});

async function unsubscribe(event: RequestEvent) {
  const mod = named(await event.request.formData(), 'mod_id');
  const ended = await apiOf(event).attempt('DELETE /games/{game_id}/mods/{mod_id}/subscribe', {
    game_id: mod.game_id,
    mod_id: mod.id,
  });
  return ended.ok ? { undo: { action: 'subscribe' as const, ...mod } } : refused(ended.error);
}

async function subscribe(event: RequestEvent) {
  const mod = named(await event.request.formData(), 'mod_id');
  const added = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/subscribe', {
    game_id: mod.game_id,
    mod_id: mod.id,
  });
  return added.ok ? {} : refused(added.error);
}

async function unfollow(event: RequestEvent) {
  const collection = named(await event.request.formData(), 'collection_id');
  const ended = await apiOf(event).attempt('DELETE /games/{game_id}/collections/{collection_id}/followers', {
    game_id: collection.game_id,
    collection_id: collection.id,
  });
  return ended.ok ? { undo: { action: 'follow' as const, ...collection } } : refused(ended.error);
}

async function follow(event: RequestEvent) {
  const collection = named(await event.request.formData(), 'collection_id');
  const added = await apiOf(event).attempt('POST /games/{game_id}/collections/{collection_id}/followers', {
    game_id: collection.game_id,
    collection_id: collection.id,
  });
  return added.ok ? {} : refused(added.error);
}

export const actions = { subscribe, unsubscribe, follow, unfollow };
