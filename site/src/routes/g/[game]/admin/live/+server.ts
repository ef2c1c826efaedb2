import { gameOf } from '#components/dashboard/actions.ts';
import type { RequestEvent } from './$types';

/** What changes in the background of a game, as the visitor. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { id } = await gameOf(event);
  const { origin, fetch } = event.platform!;
  const query = new URLSearchParams({ activity: event.url.searchParams.get('activity') ?? '' });
  const headers = { accept: 'text/event-stream' };
  return fetch(new Request(`${origin}/v1/games/${id}/activity/stream?${query}`, { headers }));
}
