import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

/** The types of agreements by the names of their pages. */
const TYPES: Readonly<Record<string, number>> = {
  terms: 1,
  privacy: 2,
  game: 3,
  api: 4,
  monetization: 5,
  'acceptable-use': 6,
  cookies: 7,
  refund: 8,
  'direct-debit': 9,
};
const VERSIONS_MAX = 50;

export async function load(event: PageServerLoadEvent) {
  const type = TYPES[event.params.page];
  if (type === undefined) error(404, { message: '' });
  const api = apiOf(event);
  const versions = await api.call('GET /agreements/types/{agreement_type_id}/versions', {
    agreement_type_id: type,
    _sort: '-date_live',
    _limit: VERSIONS_MAX,
  });
  const asked = Number(event.url.searchParams.get('version'));
  const shown = asked
    ? versions.data.find(({ id }) => id === asked)
    : (versions.data.find(({ is_latest, is_active }) => is_latest && is_active) ?? versions.data[0]);
  if (!shown) error(404, { message: '' });
  return { page: event.params.page, shown, versions: versions.data };
}
