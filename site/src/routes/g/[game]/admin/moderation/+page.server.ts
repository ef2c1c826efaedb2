import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';
import { claiming, decide, take, undo } from './decide.ts';

const PER_PAGE = 50;
const RESOURCES = ['mods', 'guides', 'collections', 'comments'] as const;

export async function load(event: PageServerLoadEvent) {
  const { game, me } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const resource = RESOURCES.find((each) => each === event.url.searchParams.get('kind'));
  const isAppeals = event.url.searchParams.has('appeals');
  const isMine = event.url.searchParams.has('mine');
  event.depends('modstead:queue');
  const list = await api.call('GET /games/{game_id}/moderation', {
    game_id: game.id,
    ...(resource && { resource }),
    ...(isAppeals && { appealed: 1 }),
    ...(isMine && { claimed_by: me?.id ?? 0 }),
    _sort: 'date_added',
    ...part,
  });
  const ids = list.data.filter((item) => item.resource === 'mods').map(({ id }) => id);
  const mods =
    ids.length > 0
      ? (
          await api.call('GET /games/{game_id}/mods', {
            game_id: game.id,
            'id-in': ids,
            'status-in': [0, 1],
            'visible-in': [0, 1],
            _limit: PER_PAGE,
          })
        ).data
      : [];
  const modOf = new Map(mods.map((mod) => [mod.id, mod]));
  return {
    items: list.data.map((item) => {
      const mod = item.resource === 'mods' ? modOf.get(item.id) : undefined;
      return { ...item, summary: mod?.summary, logo: mod?.logo.thumb_320x180, author: mod?.submitted_by.username };
    }),
    resource,
    resources: RESOURCES,
    isAppeals,
    isMine,
    stats: await api.call('GET /games/{game_id}/moderation/stats', { game_id: game.id }),
    paging: { ...paging, total: list.result_total },
  };
}

export const actions = { decide, undo, take, claim: claiming('PUT'), release: claiming('DELETE') };
