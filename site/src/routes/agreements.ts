import type { Output } from '@modstead/client';
import type { RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';

const TERMS = 1;
const PRIVACY = 2;

/** The versions in force of the terms of use and the privacy policy that the visitor has not agreed to. */
export async function openAgreements(event: Pick<RequestEvent, 'platform' | 'url'>) {
  const api = apiOf(event);
  const accepted = await api.call('GET /me/agreements', {
    is_active: 1,
    'type-in': [TERMS, PRIVACY],
    game_id: 0,
    _limit: 10,
  });
  const types = new Set(accepted.data.map(({ type }) => type));
  const open: Output<'GET /agreements/types/{agreement_type_id}/current'>[] = [];
  for (const agreement_type_id of [TERMS, PRIVACY]) {
    if (types.has(agreement_type_id)) continue;
    const current = await api.attempt('GET /agreements/types/{agreement_type_id}/current', { agreement_type_id });
    if (current.ok) open.push(current.value);
  }
  return open;
}
