import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { modOf } from '#making/finding.ts';
import { numbersOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

const FOUND_MAX = 8;

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  const api = apiOf(event);
  const query = event.url.searchParams.get('find')?.trim() ?? '';
  const named = { game_id: game.id, mod_id: mod.id };
  const [needed, dependants, found] = await Promise.all([
    api.call('GET /games/{game_id}/mods/{mod_id}/dependencies', { ...named, _limit: 100 }),
    api.call('GET /games/{game_id}/mods/{mod_id}/dependants', { ...named, _limit: 24 }),
    query ? api.call('GET /games/{game_id}/mods', { game_id: game.id, _q: query, _limit: FOUND_MAX }) : undefined,
  ]);
  const known = new Set([mod.id, ...needed.data.map(({ mod_id }) => mod_id)]);
  return {
    query,
    needed: needed.data.filter(({ dependency_depth }) => dependency_depth === 1),
    dependants: dependants.data,
    found: found?.data.filter(({ id }) => !known.has(id)),
  };
}

export const actions = {
  async add(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const dependencies = numbersOf(await event.request.formData(), 'id');
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}/dependencies', { ...named, dependencies });
    return done.ok ? {} : refused(done.error);
  },
  async remove(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const dependencies = numbersOf(await event.request.formData(), 'id');
    const done = await api.attempt('DELETE /games/{game_id}/mods/{mod_id}/dependencies', { ...named, dependencies });
    return done.ok ? {} : refused(done.error);
  },
};
