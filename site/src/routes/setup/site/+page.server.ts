import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf } from '#api';
import { saveLook } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  // Only the staff see what comes next.
  await api.call('GET /staff', { _limit: 1 });
  return { look: await api.call('GET /site') };
}

export const actions = {
  async look(event: RequestEvent) {
    const result = await saveLook(event);
    if ('done' in result) redirect(303, '/setup/game');
    return result;
  },
};
