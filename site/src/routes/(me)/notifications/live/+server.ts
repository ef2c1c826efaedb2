import type { RequestEvent } from './$types';

/** The stream of notifications, as the visitor: a browser holds no token that could ask the API for it. */
export function GET({ platform }: RequestEvent): Promise<Response> {
  const { origin, fetch } = platform!;
  return fetch(new Request(`${origin}/v1/me/notifications/stream`, { headers: { accept: 'text/event-stream' } }));
}
