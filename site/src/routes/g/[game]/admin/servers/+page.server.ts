import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { ANONYMOUS, SERVER_TOKEN } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const tokens = await api.call('GET /games/{game_id}/server-tokens', { game_id: game.id, ...part });
  return {
    tokens: tokens.data,
    paging: { ...paging, total: tokens.result_total },
    settings: await api.call('GET /games/{game_id}/server-settings', { game_id: game.id }),
  };
}

/** Lines are texts, and what is left empty is not sent. */
function adapted({ mod_ids, date_expires, ...input }: Record<string, unknown>): Record<string, unknown> {
  const ids = (mod_ids as string[]).map(Number);
  return { ...input, ...(ids.length > 0 && { mod_ids: ids }), ...(date_expires !== 0 && { date_expires }) };
}

export const actions = {
  add: calling('POST /games/{game_id}/server-tokens', SERVER_TOKEN, adapted),
  revoke: calling('DELETE /games/{game_id}/server-tokens/{server_token_id}', [idOf('server_token_id')]),
  anonymous: calling('PUT /games/{game_id}/server-settings', ANONYMOUS),
};
