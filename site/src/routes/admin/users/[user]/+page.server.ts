import { error, type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';

const LAST = 20;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const id = Number(event.params.user) || 0;
  const [account] = (await api.call('GET /staff/users', { id, _limit: 1 })).data;
  if (!account) error(404, { message: '' });
  const into = Number(event.url.searchParams.get('into')) || 0;
  const [target] = into > 0 ? (await api.call('GET /staff/users', { id: into, _limit: 1 })).data : [];
  const locks = await api.call('GET /staff/marketplace-locks', { _limit: 100 });
  return {
    account,
    into,
    target,
    contents: await api.call('GET /staff/users/{user_id}/contents', { user_id: id }),
    isMarketplaceLocked: locks.data.some(({ user_id }) => user_id === id),
    sessions: (await api.call('GET /staff/users/{user_id}/sessions', { user_id: id, _limit: 100 })).data,
    reports: (await api.call('GET /reports', { author_id: id, 'status-in': [0, 1], _sort: '-id', _limit: LAST })).data,
    log: (await api.call('GET /audit', { resource: 'users', resource_id: id, _sort: '-id', _limit: LAST })).data,
    acts: (await api.call('GET /audit', { user_id: id, _sort: '-id', _limit: LAST })).data,
  };
}

const id = idOf('user_id');
const reason = { name: 'reason', kind: 'text' } as const;

const mergeInto = calling('POST /users/{user_id}/merge', [id, { name: 'into', kind: 'number' }, reason]);

/** The merged account is gone, so the page of the other one follows. */
async function merge(event: RequestEvent) {
  const into = Number((await event.request.clone().formData()).get('into'));
  const result = await mergeInto(event);
  if ('done' in result) redirect(303, `/admin/users/${into}`);
  return result;
}

export const actions = {
  merge,
  lock: calling('POST /users/{user_id}/lock', [id]),
  unlock: calling('DELETE /users/{user_id}/lock', [id]),
  ban: calling('PUT /users/{user_id}/ban', [id, reason]),
  unban: calling('DELETE /users/{user_id}/ban', [id]),
  remove: calling('DELETE /users/{user_id}', [id]),
  market: calling('PUT /staff/marketplace-locks/{user_id}', [id, { name: 'is_locked', kind: 'yes' }, reason]),
};
