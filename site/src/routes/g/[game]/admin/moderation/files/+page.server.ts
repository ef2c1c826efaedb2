import { fail, type RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf } from '#api';
import { gameOf } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = await apiOf(event).call('GET /games/{game_id}/moderation/files', {
    game_id: game.id,
    _sort: 'date_added',
    ...part,
  });
  return { rows: list.data, paging: { ...paging, total: list.result_total } };
}

export const actions = {
  /** Each item is `mod:file:platform`. */
  async decide(event: RequestEvent) {
    const form = await event.request.formData();
    const game = await gameOf(event);
    const side = form.get('decision') === 'approve' ? 'approved' : 'denied';
    const items = form.getAll('item').map((text) => String(text).split(':'));
    const refused: { resource: string; id: number; message: string; status: number }[] = [];
    for (const [mod, file, platform] of items) {
      const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/files/{file_id}/platforms', {
        game_id: game.id,
        mod_id: Number(mod),
        file_id: Number(file),
        [side]: [platform],
      } as never);
      if (!done.ok)
        refused.push({ resource: 'files', id: Number(file), message: done.error.message, status: done.error.status });
    }
    const result = { at: 'decide', decided: items.length - refused.length, refused };
    return refused[0] ? fail(refused[0].status, { ...result, message: refused[0].message }) : result;
  },
};
