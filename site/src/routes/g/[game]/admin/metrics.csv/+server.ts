import { apiOf } from '#api';
import { gameOf } from '#components/dashboard/actions.ts';
import type { RequestEvent } from './$types';

/** The numbers of the plots as a file. */
export async function GET(event: RequestEvent): Promise<Response> {
  const game = await gameOf(event);
  const csv = await apiOf(event).call('GET /games/{game_id}/metrics/days/csv', { game_id: game.id });
  return new Response(String(csv), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="metrics.csv"',
      'cache-control': 'private, no-store',
    },
  });
}
