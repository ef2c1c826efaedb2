import { gameOf } from '#components/dashboard/actions.ts';
import type { RequestEvent } from './$types';

/** The stream of the queue, as the visitor: a browser holds no token that could ask the API for it. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { id } = await gameOf(event);
  const { origin, fetch } = event.platform!;
  const headers = { accept: 'text/event-stream' };
  return fetch(new Request(`${origin}/v1/games/${id}/moderation/stream`, { headers }));
}
