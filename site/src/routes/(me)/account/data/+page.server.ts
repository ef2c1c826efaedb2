import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { calls, textOf } from '../../actions.ts';
import type { PageServerLoadEvent } from './$types';

const MERGE_CODE_SENT = 17035;

export async function load(event: PageServerLoadEvent) {
  event.depends('modstead:export');
  const api = apiOf(event);
  const [account, made] = await Promise.all([api.call('GET /me/account'), api.attempt('GET /me/export')]);
  return {
    // Without one there is none, which is no error here.
    made: made.ok ? made.value : undefined,
    email: account.email,
    dateClosed: account.date_closed,
    mergedEmail: event.url.searchParams.get('merge') ?? '',
  };
}

/** The API answers with an error that asks for the code that it mailed. */
async function askForMergeCode(event: RequestEvent) {
  const form = await event.request.formData();
  const email = textOf(form, 'email');
  const asked = await apiOf(event).attempt('POST /me/merge', { email });
  if (asked.ok) return { done: 'merged' as const };
  if (asked.error.errorRef === MERGE_CODE_SENT) redirect(303, `?${new URLSearchParams({ merge: email })}#merge`);
  return refused(asked.error, form);
}

async function deleteAccount(event: RequestEvent) {
  const form = await event.request.formData();
  const deleted = await apiOf(event).attempt('DELETE /me', { email: textOf(form, 'confirmation') });
  return deleted.ok ? redirect(303, '/goodbye') : refused(deleted.error, form);
}

export const actions = {
  export: calls('POST /me/export', 'export', () => ({})),
  askMerge: askForMergeCode,
  merge: calls('POST /me/merge', 'merged', (form) => ({ email: textOf(form, 'email'), code: textOf(form, 'code') })),
  close: calls('POST /me/close', 'closed', () => ({})),
  reopen: calls('DELETE /me/close', 'reopened', () => ({})),
  delete: deleteAccount,
};
