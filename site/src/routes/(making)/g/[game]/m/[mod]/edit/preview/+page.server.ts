import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { COMMUNITY } from '#making/bits.ts';
import { modOf } from '#making/finding.ts';
import { textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  const api = apiOf(event);
  const named = { game_id: game.id, mod_id: mod.id };
  const [link, previewers] = await Promise.all([
    api.attempt('GET /games/{game_id}/mods/{mod_id}/preview', named),
    api.attempt('GET /games/{game_id}/mods/{mod_id}/previewers', { ...named, _limit: 100 }),
  ]);
  return {
    link: link.ok ? link.value.preview_url : null,
    previewers: previewers.ok ? previewers.value.data : [],
    allows: {
      previews: (mod.community_options & COMMUNITY.previews) !== 0,
      link: (mod.community_options & COMMUNITY.previewLink) !== 0,
    },
  };
}

export const actions = {
  async options(event: RequestEvent) {
    const { api, mod, named } = await modOf(event);
    const form = await event.request.formData();
    const bits = COMMUNITY.previews | COMMUNITY.previewLink;
    const chosen = form.getAll('allow').reduce((sum, bit) => sum | (Number(bit) & bits), 0);
    const community_options = (mod.community_options & ~bits) | chosen;
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}', { ...named, community_options });
    return done.ok ? { saved: true } : refused(done.error);
  },
  /** A new link; the earlier one ends. */
  async renew(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const done = await api.attempt('PUT /games/{game_id}/mods/{mod_id}/preview', named);
    return done.ok ? { saved: true } : refused(done.error);
  },
  async invite(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const user_id = Number(textOf(form, 'user_id'));
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}/previewers', { ...named, user_id });
    return done.ok ? { saved: true } : refused(done.error, form);
  },
  async remove(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const user_id = Number(textOf(await event.request.formData(), 'id'));
    const path = 'DELETE /games/{game_id}/mods/{mod_id}/previewers/{user_id}';
    const done = await api.attempt(path, { ...named, user_id });
    return done.ok ? { saved: true } : refused(done.error);
  },
};
