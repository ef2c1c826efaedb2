import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import { calling, saveLook } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

const ADMINISTRATOR = 4;

export async function load(event: PageServerLoadEvent) {
  const { staffLevel } = await event.parent();
  // Everybody may read it, but the form is for those who can change it.
  if (staffLevel < ADMINISTRATOR) error(403, { message: '' });
  return { look: await apiOf(event).call('GET /site') };
}

export const actions = { look: saveLook, removeIcon: calling('DELETE /site/icon') };
