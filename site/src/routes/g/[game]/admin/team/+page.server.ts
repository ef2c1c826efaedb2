import { apiOf, pagingOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { CHANGE, inviting } from './fields.ts';

const PER_PAGE = 50;

export async function load(event: PageServerLoadEvent) {
  const { game, level } = await event.parent();
  const api = apiOf(event);
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const members = await api.call('GET /games/{game_id}/team', { game_id: game.id, ...part });
  const open =
    level >= 4 ? await api.attempt('GET /games/{game_id}/team', { game_id: game.id, pending: 1 } as never) : undefined;
  const reviews =
    level === 8 ? await api.attempt('GET /games/{game_id}/team/reviews', { game_id: game.id }) : undefined;
  return {
    members: members.data,
    paging: { ...paging, total: members.result_total },
    invitations: open?.ok ? open.value.data.filter(({ invite_pending }) => invite_pending === 1) : [],
    reviews: reviews?.ok ? reviews.value : undefined,
  };
}

export const actions = {
  invite: calling('POST /games/{game_id}/team', inviting(8)),
  change: calling('PUT /games/{game_id}/team/{team_member_id}', CHANGE),
  lead: calling('PUT /games/{game_id}/team/{team_member_id}', [idOf('team_member_id')], (input) => ({
    ...input,
    leader: true,
  })),
  remove: calling('DELETE /games/{game_id}/team/{team_member_id}', [idOf('team_member_id')]),
  require: calling('PUT /games/{game_id}/team/reviews', [{ name: 'required', kind: 'yes' }]),
  decide: calling('POST /games/{game_id}/team/reviews/{review_id}', [
    idOf('review_id'),
    { name: 'approved', kind: 'yes' },
  ]),
};
