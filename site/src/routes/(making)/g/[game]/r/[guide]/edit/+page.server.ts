import { type RequestEvent, redirect } from '@sveltejs/kit';
import { refused } from '#api';
import { guideAddress, guidesAddress } from '#components/addresses.ts';
import { guideOf } from '#making/finding.ts';
import { textOf } from '#making/forms.ts';
import { guideFrom } from '#making/guide-form.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { api, guide, named } = await guideOf(event);
  const [tags, moderation] = await Promise.all([
    api.call('GET /games/{game_id}/guides/tags', { game_id: named.game_id, _limit: 20 }),
    // Only its author and the game's team may see it.
    api.call('GET /games/{game_id}/moderation/{content}/{content_id}', {
      game_id: named.game_id,
      content: 'guides',
      content_id: guide.id,
    }),
  ]);
  return { guide, moderation, known: tags.data.map(({ name }) => name) };
}

export const actions = {
  async save(event: RequestEvent) {
    const { api, named } = await guideOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/guides/{guide_id}', { ...named, ...guideFrom(form) });
    if (!done.ok) return refused(done.error, form);
    if (done.value.name_id !== event.params['guide'])
      redirect(303, `${guideAddress(event.params['game']!, done.value.name_id)}/edit`);
    return { saved: true };
  },
  async appeal(event: RequestEvent) {
    const { api, named } = await guideOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/moderation/{content}/{content_id}/appeal', {
      game_id: named.game_id,
      content: 'guides',
      content_id: named.guide_id,
      reason: textOf(form, 'reason') ?? '',
    });
    return done.ok ? { appealed: true } : refused(done.error, form);
  },
  async delete(event: RequestEvent) {
    const { api, named } = await guideOf(event);
    const done = await api.attempt('DELETE /games/{game_id}/guides/{guide_id}', named);
    if (!done.ok) return refused(done.error);
    redirect(303, guidesAddress(event.params['game']!));
  },
};
