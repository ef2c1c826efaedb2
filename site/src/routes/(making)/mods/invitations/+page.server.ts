import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { data } = await apiOf(event).call('GET /me/team-invites', { _limit: 100 });
  return { invites: data };
}

export const actions = {
  async accept(event: RequestEvent) {
    const invite_id = Number(textOf(await event.request.formData(), 'id'));
    const done = await apiOf(event).attempt('POST /me/team-invites/{invite_id}/accept', { invite_id });
    return done.ok ? { accepted: true } : refused(done.error);
  },
  async decline(event: RequestEvent) {
    const invite_id = Number(textOf(await event.request.formData(), 'id'));
    const done = await apiOf(event).attempt('POST /me/team-invites/{invite_id}/decline', { invite_id });
    return done.ok ? { declined: true } : refused(done.error);
  },
};
