import { type RequestEvent, redirect } from '@sveltejs/kit';
import { refused } from '#api';
import { collectionAddress } from '#components/addresses.ts';
import { collectionFrom } from '#making/collection-form.ts';
import { gameOf } from '#making/finding.ts';

export const actions = {
  async default(event: RequestEvent) {
    const { api, named } = await gameOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/collections', { ...named, ...collectionFrom(form) });
    if (!done.ok) return refused(done.error, form);
    redirect(303, `${collectionAddress(event.params['game']!, done.value.name_id)}/edit`);
  },
};
