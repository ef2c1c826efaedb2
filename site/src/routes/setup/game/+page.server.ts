import { fail, type RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const AGREEMENT_FOR_GAMES = 3;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  await api.call('GET /staff', { _limit: 1 });
  const agreement = await api.attempt('GET /agreements/types/{agreement_type_id}/current', {
    agreement_type_id: AGREEMENT_FOR_GAMES,
  });
  const health = await api.attempt('GET /staff/installation');
  return {
    agreement: agreement.ok ? { id: agreement.value.id, name: agreement.value.name } : undefined,
    parts: health.ok ? health.value.parts : [],
  };
}

export const actions = {
  /** Adds the first game, publishes it, and shows its key once. */
  async game(event: RequestEvent) {
    const api = apiOf(event);
    const form = await event.request.formData();
    const at = 'game';
    const agreed = Number(form.get('agreement'));
    if (agreed) {
      const accepted = await api.attempt('POST /me/agreements', { agreement_version_id: agreed });
      if (!accepted.ok) return fail(accepted.error.status, { at, message: accepted.error.message });
    }
    const sent = { name: String(form.get('name') ?? ''), summary: String(form.get('summary') ?? '') };
    const logo = form.get('logo');
    const added = await api.attempt('POST /games', {
      ...sent,
      ...(logo instanceof File && logo.size > 0 && { logo }),
    } as never);
    if (!added.ok)
      return fail(added.error.status, { at, message: added.error.message, fields: { ...added.error.fields }, sent });
    const { id, name_id, api_key } = added.value as { id: number; name_id: string; api_key: string };
    await api.call('PUT /games/{game_id}', { game_id: id, status: 1 });
    const { protocol, host } = new URL(event.platform!.origin);
    return { at, done: true, answer: { id, name_id, api_key, url: `${protocol}//g-${id}.${host}/v1` } };
  },
};
