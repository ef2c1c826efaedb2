import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { calls, numberOf, textOf } from '../../actions.ts';
import type { PageServerLoadEvent } from './$types';

const DAYS = [7, 30, 90, 365] as const;
const DAY_SECONDS = 86_400;
const NOT_FOUND = 404;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const [tokens, key] = await Promise.all([api.call('GET /me/tokens', { _limit: 100 }), findKey(event)]);
  return {
    tokens: tokens.data.filter(({ client, name }) => client === null && name !== null),
    keySince: key?.date_added,
    days: DAYS,
  };
}

async function findKey(event: Pick<RequestEvent, 'platform' | 'url'>) {
  const key = await apiOf(event).attempt('GET /me/api-key');
  if (key.ok) return key.value;
  if (key.error.status === NOT_FOUND) return undefined;
  return apiOf(event).call('GET /me/api-key');
}

const SCOPES = ['read', 'write'] as const;

async function addToken(event: RequestEvent) {
  const form = await event.request.formData();
  const wanted = form.getAll('scopes[]');
  const added = await apiOf(event).attempt('POST /me/tokens', {
    name: textOf(form, 'name'),
    scopes: SCOPES.filter((scope) => wanted.includes(scope)),
    date_expires: Math.floor(Date.now() / 1000) + numberOf(form, 'days') * DAY_SECONDS,
  });
  return added.ok ? { token: added.value.access_token } : refused(added.error, form);
}

const makesKey = (operation: 'POST /me/api-key' | 'PUT /me/api-key') => async (event: RequestEvent) => {
  const made = await apiOf(event).attempt(operation);
  return made.ok ? { key: made.value.api_key } : refused(made.error);
};

export const actions = {
  add: addToken,
  revoke: calls('DELETE /me/tokens/{token_id}', 'revoked', (form) => ({ token_id: numberOf(form, 'token_id') })),
  addKey: makesKey('POST /me/api-key'),
  rotateKey: makesKey('PUT /me/api-key'),
  removeKey: calls('DELETE /me/api-key', 'keyRemoved', () => ({})),
};
