import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { modOf } from '#making/finding.ts';
import { textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  const named = { game_id: game.id, mod_id: mod.id };
  const { data } = await apiOf(event).call('GET /games/{game_id}/mods/{mod_id}/team', { ...named, _limit: 100 });
  return { team: data };
}

/** The API names the levels that there are. */
const levelOf = (form: FormData) => Number(textOf(form, 'level')) as 1 | 4 | 8;
const MEMBER = '/games/{game_id}/mods/{mod_id}/team/{team_member_id}';

export const actions = {
  async invite(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}/team', {
      ...named,
      email: textOf(form, 'email') ?? '',
      level: levelOf(form),
      position: textOf(form, 'position') ?? '',
    });
    return done.ok ? { invited: true } : refused(done.error, form);
  },
  async change(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const done = await api.attempt(`PUT ${MEMBER}`, {
      ...named,
      team_member_id: Number(textOf(form, 'id')),
      level: levelOf(form),
      position: textOf(form, 'position') ?? '',
    });
    return done.ok ? { saved: true } : refused(done.error);
  },
  async lead(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const member = { ...named, team_member_id: Number(textOf(form, 'id')) };
    const done = await api.attempt(`PUT ${MEMBER}`, { ...member, leader: true });
    return done.ok ? { saved: true } : refused(done.error);
  },
  async remove(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const done = await api.attempt(`DELETE ${MEMBER}`, { ...named, team_member_id: Number(textOf(form, 'id')) });
    return done.ok ? { saved: true } : refused(done.error);
  },
};
