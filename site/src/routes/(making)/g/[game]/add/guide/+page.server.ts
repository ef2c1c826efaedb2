import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { guideAddress } from '#components/addresses.ts';
import { gameOf } from '#making/finding.ts';
import { guideFrom } from '#making/guide-form.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const tags = await apiOf(event).call('GET /games/{game_id}/guides/tags', { game_id: game.id, _limit: 20 });
  return { known: tags.data.map(({ name }) => name) };
}

export const actions = {
  async default(event: RequestEvent) {
    const { api, named } = await gameOf(event);
    const form = await event.request.formData();
    const fields = guideFrom(form);
    const done = await api.attempt('POST /games/{game_id}/guides', {
      ...named,
      ...fields,
      logo: fields.logo ?? new File([], ''),
    });
    if (!done.ok) return refused(done.error, form);
    redirect(303, guideAddress(event.params['game']!, done.value.name_id) + (done.value.status === 1 ? '' : '/edit'));
  },
};
