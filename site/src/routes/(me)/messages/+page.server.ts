import { apiOf, pagingOf } from '#api';
import { calls, numberOf } from '../actions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 30;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:unread');
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const [threads, invites] = await Promise.all([
    api.call('GET /me/messages/threads', part),
    api.call('GET /me/messages/invites', { _limit: 20 }),
  ]);
  return { ...paging, threads: threads.data, total: threads.result_total, invites: invites.data };
}

const thread = (form: FormData) => ({ thread_id: numberOf(form, 'thread_id') });

export const actions = {
  join: calls('POST /me/messages/threads/{thread_id}/join', 'joined', thread),
  decline: calls('DELETE /me/messages/threads/{thread_id}', 'declined', thread),
};
