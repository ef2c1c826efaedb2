import { fail, type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { STATUS } from '#making/bits.ts';
import { modOf } from '#making/finding.ts';
import { textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  if (mod.status === STATUS.deleted) return { dependants: [] };
  const { data } = await apiOf(event).call('GET /games/{game_id}/mods/{mod_id}/dependants', {
    game_id: game.id,
    mod_id: mod.id,
    _limit: 10,
  });
  return { dependants: data };
}

export const actions = {
  async appeal(event: RequestEvent) {
    const { api, mod, named } = await modOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/moderation/{content}/{content_id}/appeal', {
      game_id: named.game_id,
      content: 'mods',
      content_id: mod.id,
      reason: textOf(form, 'reason') ?? '',
    });
    return done.ok ? { appealed: true } : refused(done.error, form);
  },
  async delete(event: RequestEvent) {
    const { api, mod, named } = await modOf(event);
    const form = await event.request.formData();
    if (textOf(form, 'confirmed') !== mod.name) return fail(422, { wrongName: true });
    const permanent = mod.status === STATUS.deleted;
    const done = await api.attempt('DELETE /games/{game_id}/mods/{mod_id}', {
      ...named,
      ...(permanent && { permanent }),
    });
    if (!done.ok) return refused(done.error);
    redirect(303, '/mods?deleted');
  },
};
