import { items } from '@modstead/client';
import { apiOf } from '#api';
import { type Listed, PER_CALL, sitemapResponse } from '#sitemaps';
import type { RequestEvent } from './$types';

export async function GET(event: RequestEvent): Promise<Response> {
  const { origin } = event.platform!;
  const listed: Listed[] = ['/', '/legal/terms', '/legal/privacy'].map((path) => ({ address: origin + path }));
  for await (const game of items(apiOf(event), 'GET /games', { _limit: PER_CALL }))
    listed.push({ address: game.profile_url, updated: game.date_updated });
  return sitemapResponse(listed);
}
