import type { Client } from '@modstead/client';
import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import { collectionAddress } from '#components/addresses.ts';
import { ADDRESSES_MAX, type Listed, PER_CALL, sitemapResponse } from '#sitemaps';
import type { RequestEvent } from './$types';

/** A part of a game's mods; the first part also has its newest guides and collections. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { params, platform } = event;
  const api = apiOf(event);
  const { data } = await api.call('GET /games', { name_id: params.game, _limit: 1 });
  const [game] = data;
  const part = /^[1-9]\d{0,5}$/.test(params.page) ? Number(params.page) : 0;
  if (!game || part === 0) error(404, { message: '' });
  const mods = await modsOf(api, game.id, (part - 1) * ADDRESSES_MAX);
  if (part > 1) return sitemapResponse(mods);
  const [guides, collections] = await Promise.all([
    api.call('GET /games/{game_id}/guides', { game_id: game.id, _sort: '-date_updated', _limit: PER_CALL }),
    api.call('GET /games/{game_id}/collections', { game_id: game.id, _sort: '-date_updated', _limit: PER_CALL }),
  ]);
  return sitemapResponse([
    ...mods,
    ...guides.data.map(({ url, date_updated }) => ({ address: url, updated: date_updated })),
    ...collections.data.map(({ name_id, date_updated }) => ({
      address: platform!.origin + collectionAddress(game.name_id, name_id),
      updated: date_updated,
    })),
  ]);
}

async function modsOf(api: Client, gameId: number, from: number): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (let offset = from; offset < from + ADDRESSES_MAX; offset += PER_CALL) {
    const { data } = await api.call('GET /games/{game_id}/mods', {
      game_id: gameId,
      revenue_type: 2,
      _sort: 'id',
      _limit: PER_CALL,
      _offset: offset,
    });
    listed.push(...data.map(({ profile_url, date_updated }) => ({ address: profile_url, updated: date_updated })));
    if (data.length < PER_CALL) break;
  }
  return listed;
}
