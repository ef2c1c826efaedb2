import { apiOf } from '#api';
import { gameOf } from '#components/dashboard/actions.ts';
import type { RequestEvent } from './$types';

export async function GET(event: RequestEvent): Promise<Response> {
  const game = await gameOf(event);
  const month = event.url.searchParams.get('month') || new Date().toISOString().slice(0, 7);
  const csv = await apiOf(event).call('GET /games/{game_id}/monetization/statement/csv', { game_id: game.id, month });
  return new Response(String(csv), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="statement.csv"',
      'cache-control': 'private, no-store',
    },
  });
}
