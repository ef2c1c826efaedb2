import { apiOf } from '#api';
import { modAddress } from '#components/addresses.ts';
import { feedResponse } from '#feeds';
import { languageOf } from '#texts';
import { missing } from '../../../comment-actions.ts';
import type { RequestEvent } from './$types';

const ENTRIES_MAX = 50;

/** The versions of a mod with their changelogs. */
export async function GET(event: RequestEvent): Promise<Response> {
  const { params, url, platform } = event;
  const { origin, language } = platform!;
  const api = apiOf(event);
  const games = await api.call('GET /games', { name_id: params.game, _limit: 1 });
  const game = games.data[0] ?? missing();
  const wanted = { game_id: game.id, name_id: params.mod, revenue_type: 2, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/mods', wanted);
  const mod = data[0] ?? missing();
  const files = await api.call('GET /games/{game_id}/mods/{mod_id}/files', {
    game_id: game.id,
    mod_id: mod.id,
    _sort: '-date_added',
    _limit: ENTRIES_MAX,
  });
  const page = origin + modAddress(game.name_id, mod.name_id);
  return feedResponse(params.format, {
    title: `${mod.name} · ${game.name}`,
    site: (await api.call('GET /site')).name,
    page,
    self: `${origin}${url.pathname}`,
    language: languageOf(language),
    entries: files.data.map((file) => ({
      id: `${origin}/search/files/${file.id}`,
      page: `${page}#files`,
      title: file.version ? `${mod.name} ${file.version}` : mod.name,
      text: file.changelog || mod.summary,
      author: { name: mod.submitted_by.username, page: mod.submitted_by.profile_url },
      added: file.date_added,
      updated: Math.max(file.date_added, file.date_updated),
    })),
  });
}
