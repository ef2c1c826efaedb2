import { apiOf, pagingOf } from '#api';
import { calls, numberOf } from '../actions.ts';
import type { PageServerLoadEvent } from './$types';
import { subjectsOf } from './subjects.ts';

const PER_PAGE = 30;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:unread');
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const isUnreadOnly = event.url.searchParams.get('show') === 'unread';
  const found = await api.call('GET /me/notifications', { ...part, ...(isUnreadOnly && { is_read: 0 }) });
  const subjectOf = await subjectsOf(api, found.data);
  return {
    ...paging,
    isUnreadOnly,
    total: found.result_total,
    notifications: found.data.map((notification) => ({ ...notification, subject: subjectOf(notification) })),
  };
}

const one = (form: FormData) => ({ notification_id: numberOf(form, 'notification_id') });

export const actions = {
  readAll: calls('POST /me/notifications', 'read', () => ({})),
  mark: calls('PUT /me/notifications/{notification_id}', 'marked', (form) => ({
    ...one(form),
    is_read: form.get('is_read') === 'true',
  })),
  remove: calls('DELETE /me/notifications/{notification_id}', 'removed', one),
};
