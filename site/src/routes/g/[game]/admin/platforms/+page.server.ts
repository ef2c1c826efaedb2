import type { RequestEvent } from '@sveltejs/kit';
import { attempted } from '#components/dashboard/actions.ts';
import { PLATFORMS } from './names.ts';

export const actions = {
  async save(event: RequestEvent) {
    const form = await event.request.formData();
    const platforms = PLATFORMS.filter((platform) => form.has(platform)).map((platform) => ({
      platform,
      label: String(form.get(`${platform}-label`) ?? ''),
      moderated: form.has(`${platform}-moderated`),
      locked: form.has(`${platform}-locked`),
    }));
    return attempted(event, 'PUT /games/{game_id}', { platforms }, form);
  },
};
