import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';
import { decide } from './decide.ts';

const PER_PAGE = 50;
const RESOURCES = ['mods', 'guides', 'collections', 'comments'] as const;
const DAY = 86_400;
const DECIDING = ['approve', 'deny', 'delete'].flatMap((action) =>
  RESOURCES.map((resource) => `${resource}.${action}`),
);

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const resource = RESOURCES.find((each) => each === event.url.searchParams.get('kind'));
  const isAppeals = event.url.searchParams.has('appeals');
  const list = await api.call('GET /games/{game_id}/moderation', {
    game_id: game.id,
    ...(resource && { resource }),
    ...(isAppeals && { appealed: 1 }),
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
  const now = Math.floor(Date.now() / 1000);
  const decidedSince = async (since: number) =>
    (
      await api.call('GET /games/{game_id}/audit', {
        game_id: game.id,
        'action-in': DECIDING,
        'date_added-min': since,
        _limit: 1,
      })
    ).result_total;
  return {
    items: list.data.map((item) => {
      const mod = item.resource === 'mods' ? modOf.get(item.id) : undefined;
      return { ...item, summary: mod?.summary, logo: mod?.logo.thumb_320x180, author: mod?.submitted_by.username };
    }),
    resource,
    resources: RESOURCES,
    isAppeals,
    oldest: list.data[0]?.date_added,
    decided: { day: await decidedSince(now - DAY), week: await decidedSince(now - 7 * DAY) },
    paging: { ...paging, total: list.result_total },
  };
}

export const actions = { decide };
