import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import { userAddress } from '#components/addresses.ts';
import { feedResponse, modEntry } from '#feeds';
import { languageOf } from '#texts';
import type { RequestEvent } from './$types';

const ENTRIES_MAX = 50;

/** What an author publishes, in all games. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { params, url, platform } = event;
  const { origin, language } = platform!;
  const api = apiOf(event);
  const { data } = await api.call('GET /users', { name_id: params.user });
  const [user] = data;
  if (!user) error(404, { message: '' });
  const wanted = { user_id: user.id, revenue_type: 2, _sort: '-date_updated', _limit: ENTRIES_MAX } as const;
  const mods = await api.call('GET /users/{user_id}/mods', wanted);
  return feedResponse(params.format, {
    title: user.username,
    site: (await api.call('GET /site')).name,
    page: origin + userAddress(user.name_id),
    self: `${origin}${url.pathname}`,
    language: languageOf(language),
    entries: mods.data.map((mod) => modEntry(origin, mod)),
  });
}
