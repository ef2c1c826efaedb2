import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import type { PageServerLoadEvent } from './$types';

const COMMENTS_MAX = 50;
const FILES_MAX = 20;
/** The bit of `community_options` of games and mods. */
const COMMENTS = 1;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const wanted = { game_id: game.id, name_id: event.params.mod, _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/mods', wanted);
  const [mod] = data;
  if (!mod) error(404, { message: '' });
  const named = { game_id: game.id, mod_id: mod.id };
  const [files, dependencies, team, comments, subscribed] = await Promise.all([
    api.call('GET /games/{game_id}/mods/{mod_id}/files', { ...named, _sort: '-date_added', _limit: FILES_MAX }),
    api.call('GET /games/{game_id}/mods/{mod_id}/dependencies', named),
    api.call('GET /games/{game_id}/mods/{mod_id}/team', named),
    api.call('GET /games/{game_id}/mods/{mod_id}/comments', { ...named, _limit: COMMENTS_MAX }),
    event.platform!.isSignedIn ? api.call('GET /me/subscribed', { id: mod.id, _limit: 1 }) : undefined,
  ]);
  return {
    mod,
    files: files.data,
    dependencies: dependencies.data,
    team: team.data,
    comments: comments.data,
    allowsComments: (game.community_options & mod.community_options & COMMENTS) !== 0,
    isSubscribed: (subscribed?.data.length ?? 0) > 0,
  };
}

function namedBy(form: FormData) {
  return { game_id: Number(form.get('game_id')), mod_id: Number(form.get('mod_id')) };
}

export const actions = {
  async subscribe(event: RequestEvent) {
    const named = namedBy(await event.request.formData());
    const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/subscribe', {
      ...named,
      include_dependencies: true,
    });
    return done.ok ? {} : refused(done.error);
  },
  async unsubscribe(event: RequestEvent) {
    const named = namedBy(await event.request.formData());
    const done = await apiOf(event).attempt('DELETE /games/{game_id}/mods/{mod_id}/subscribe', named);
    return done.ok ? {} : refused(done.error);
  },
  async rate(event: RequestEvent) {
    const form = await event.request.formData();
    const rating = Number(form.get('rating'));
    const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/ratings', {
      ...namedBy(form),
      rating,
    });
    return done.ok ? {} : refused(done.error);
  },
  async comment(event: RequestEvent) {
    const form = await event.request.formData();
    const content = String(form.get('content') ?? '');
    const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/comments', {
      ...namedBy(form),
      content,
    });
    return done.ok ? {} : refused(done.error);
  },
};
