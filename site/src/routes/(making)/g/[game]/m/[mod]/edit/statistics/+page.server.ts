import { items } from '@modstead/client';
import { apiOf, clientOf } from '#api';
import type { PageServerLoadEvent } from './$types';
import { askedBy, SPANS } from './span.ts';

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  const { days, platform, span } = askedBy(event.url);
  const named = { game_id: game.id, mod_id: mod.id };
  // The first page decides over permissions; the others follow.
  const client = clientOf(event).with({ platform });
  const read = 'GET /games/{game_id}/mods/{mod_id}/metrics/days';
  const [stats, rows] = await Promise.all([
    apiOf(event).call('GET /games/{game_id}/mods/{mod_id}/stats', named),
    Array.fromAsync(items(client, read, { ...named, ...span })),
  ]);
  return { days, spans: SPANS, platform: event.url.searchParams.get('platform') ?? '', stats, rows };
}
