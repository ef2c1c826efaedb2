import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';
import { PLATFORMS } from './platforms/names.ts';

const DAY_MS = 86_400_000;
const SPANS = [30, 90, 365] as const;
const MONTHS = 12;
const TOP = 5;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The numbers of a span, and of the one before it to compare. */
export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const query = event.url.searchParams;
  const platform = PLATFORMS.find((each) => each === query.get('platform'));
  const api = platform ? apiOf(event).with({ platform }) : apiOf(event);
  const days = SPANS.find((each) => each === Number(query.get('days'))) ?? SPANS[0];
  // The last day of the span, today unless the address names one.
  const now = Date.parse(query.get('to') ?? '') || Date.now();
  const inGame = { game_id: game.id };
  const span = (from: number, to: number) =>
    api.call('GET /games/{game_id}/metrics/days', {
      ...inGame,
      from: dayOf(from),
      to: dayOf(to),
      _limit: 400,
    } as never);
  const [current, before] = [
    await span(now - (days - 1) * DAY_MS, now),
    await span(now - (2 * days - 1) * DAY_MS, now - days * DAY_MS),
  ];
  const months = await api.call('GET /games/{game_id}/metrics/months', { ...inGame, _limit: MONTHS });
  const month = dayOf(now).slice(0, 7);
  const top = { ...inGame, month, _limit: TOP };
  return {
    days,
    spans: SPANS,
    platform,
    current: current.data,
    before: before.data,
    months: months.data,
    mods: (await api.call('GET /games/{game_id}/metrics/top/mods', top)).data,
    creators: (await api.call('GET /games/{game_id}/metrics/top/creators', top)).data,
    waiting: (await api.call('GET /games/{game_id}/moderation', { ...inGame, _limit: 1 })).result_total,
    files: (await api.call('GET /games/{game_id}/moderation/files', { ...inGame, _limit: 1 })).result_total,
    reports: (await api.call('GET /games/{game_id}/reports', { ...inGame, _limit: 1 })).result_total,
  };
}
