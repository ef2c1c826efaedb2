import type { RequestEvent } from './$types';

/** What waits for the staff, as the visitor: a browser holds no token that could ask the API for it. */
export function GET({ platform }: RequestEvent): Promise<Response> {
  const { origin, fetch } = platform!;
  return fetch(new Request(`${origin}/v1/staff/installation/stream`, { headers: { accept: 'text/event-stream' } }));
}
