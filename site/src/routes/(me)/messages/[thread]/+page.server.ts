import { error, type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import { calls, numberOf, textOf } from '../../actions.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 30;
const PEOPLE_MAX = 100;

const idOf = ({ params }: { params: Partial<Record<string, string>> }): number => {
  const id = Number(params['thread']);
  return Number.isInteger(id) && id > 0 ? id : error(404);
};

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:thread');
  const api = apiOf(event);
  const thread_id = idOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const thread = await api.call('GET /me/messages/threads/{thread_id}', { thread_id });
  const { id: myId } = await api.call('GET /me');
  const isInvited = thread.members.some(({ user, invited }) => invited && user.id === myId);
  const [messages, followed] = await Promise.all([
    isInvited ? undefined : api.call('GET /me/messages/threads/{thread_id}/messages', { thread_id, ...part }),
    api.call('GET /me/following', { _sort: 'name_id', _limit: PEOPLE_MAX }),
  ]);
  const inside = new Set(thread.members.map(({ user }) => user.id));
  return {
    ...paging,
    thread,
    isInvited,
    messages: messages?.data ?? [],
    total: messages?.result_total ?? 0,
    invitable: followed.data.filter(({ id }) => !inside.has(id)),
  };
}

async function leave(event: RequestEvent) {
  const left = await apiOf(event).attempt('DELETE /me/messages/threads/{thread_id}', { thread_id: idOf(event) });
  return left.ok ? redirect(303, '/messages') : refused(left.error);
}

export const actions = {
  send: calls('POST /me/messages/threads/{thread_id}/messages', 'sent', (form, event) => ({
    thread_id: idOf(event),
    content: textOf(form, 'content'),
  })),
  // A page that is only looked at changes nothing, so the browser says that it was read.
  read: calls('POST /me/messages/threads/{thread_id}/read', 'seen', (_, event) => ({ thread_id: idOf(event) })),
  join: calls('POST /me/messages/threads/{thread_id}/join', 'joined', (_, event) => ({ thread_id: idOf(event) })),
  invite: calls('POST /me/messages/threads/{thread_id}/invites', 'invited', (form, event) => ({
    thread_id: idOf(event),
    user_id: numberOf(form, 'user_id'),
  })),
  withdraw: calls('DELETE /me/messages/threads/{thread_id}/messages/{message_id}', 'withdrawn', (form, event) => ({
    thread_id: idOf(event),
    message_id: numberOf(form, 'message_id'),
  })),
  block: calls('POST /users/{user_id}/block', 'blocked', (form) => ({ user_id: numberOf(form, 'user_id') })),
  report: calls('POST /report', 'reported', (form) => ({
    resource: 'users',
    id: textOf(form, 'user_id'),
    type: numberOf(form, 'type'),
    summary: textOf(form, 'summary'),
  })),
  leave,
};
