import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { textOf } from '../../actions.ts';
import type { PageServerLoadEvent } from './$types';

const PEOPLE_MAX = 100;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const id = Number(event.url.searchParams.get('to'));
  if (Number.isInteger(id) && id > 0)
    return { to: await api.call('GET /users/{user_id}', { user_id: id }), people: [] };
  return {
    to: undefined,
    people: (await api.call('GET /me/following', { _sort: 'name_id', _limit: PEOPLE_MAX })).data,
  };
}

export const actions = {
  async default(event: RequestEvent) {
    const form = await event.request.formData();
    const started = await apiOf(event).attempt('POST /me/messages/threads', {
      subject: textOf(form, 'subject'),
      content: textOf(form, 'content'),
      user_ids: form.getAll('user_ids').map(Number),
    });
    return started.ok ? redirect(303, `/messages/${started.value.id}`) : refused(started.error, form);
  },
};
