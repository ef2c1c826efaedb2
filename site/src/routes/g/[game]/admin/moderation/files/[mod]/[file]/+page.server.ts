import { apiOf, pagingOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 100;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const named = { game_id: game.id, mod_id: Number(event.params.mod) || 0, file_id: Number(event.params.file) || 0 };
  const contents = await api.call('GET /games/{game_id}/mods/{mod_id}/files/{file_id}/contents', { ...named, ...part });
  const findings = await api.call('GET /games/{game_id}/findings', {
    game_id: game.id,
    modfile_id: named.file_id,
    _limit: PER_PAGE,
  });
  return {
    file: await api.call('GET /games/{game_id}/mods/{mod_id}/files/{file_id}', named),
    contents: contents.data,
    findings: findings.data,
    paging: { ...paging, total: contents.result_total },
  };
}
