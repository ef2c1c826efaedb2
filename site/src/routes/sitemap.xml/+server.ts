import { items } from '@modstead/client';
import { apiOf } from '#api';
import { gameAddress } from '#components/addresses.ts';
import { ADDRESSES_MAX, indexResponse, PER_CALL } from '#sitemaps';
import type { RequestEvent } from './$types';

/** One sitemap of the games, and those of each game's content. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { origin } = event.platform!;
  const listed = [{ address: `${origin}/sitemap/games.xml` }];
  for await (const game of items(apiOf(event), 'GET /games', { _limit: PER_CALL })) {
    const mods = game.stats?.mods_count_total ?? 0;
    const parts = Math.max(1, Math.ceil(mods / ADDRESSES_MAX));
    for (let part = 1; part <= parts; part++)
      listed.push({ address: `${origin}/sitemap${gameAddress(game.name_id)}/${part}.xml` });
  }
  return indexResponse(listed);
}
