import { apiOf } from '#api';
import { calling, saveLook } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';

export const load = async (event: PageServerLoadEvent) => ({ look: await apiOf(event).call('GET /site') });

export const actions = { look: saveLook, removeIcon: calling('DELETE /site/icon') };
