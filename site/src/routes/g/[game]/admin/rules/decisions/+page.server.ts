import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

/** A decision in the address is evaluated again. */
export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const verdict = event.url.searchParams.get('verdict') ?? '';
  const list = await api.call('GET /games/{game_id}/rules/decisions', {
    game_id: game.id,
    _sort: '-id',
    ...(verdict && { verdict }),
    ...part,
  });
  const replayed = Number(event.url.searchParams.get('replay')) || undefined;
  const replay =
    replayed &&
    (await api.call('GET /games/{game_id}/rules/decisions/{decision_id}/replay', {
      game_id: game.id,
      decision_id: replayed,
    }));
  return { rows: list.data, verdict, replay, paging: { ...paging, total: list.result_total } };
}
