import { apiOf } from '#api';
import type { RequestEvent } from './$types';

const COLOUR = /^#[0-9a-f]{6}$/i;

/** The game's colours as a style sheet, because the policy forbids style attributes. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { data } = await apiOf(event).call('GET /games', { name_id: event.params.game, _limit: 1 });
  const primary = data[0]?.theme?.primary ?? '';
  const css = COLOUR.test(primary) ? `:root{--game:${primary}}` : '';
  return new Response(css, { headers: { 'content-type': 'text/css', 'cache-control': 'private, max-age=3600' } });
}
