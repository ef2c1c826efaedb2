import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import { idOf } from '#components/dashboard/fields.ts';
import type { PageServerLoadEvent } from './$types';
import { DRAFT } from './fields.ts';

export async function load(event: PageServerLoadEvent) {
  const type = Number(event.params.type) || 0;
  const input = { agreement_type_id: type, _sort: '-id', _limit: 100 } as const;
  const list = await apiOf(event).call('GET /agreements/types/{agreement_type_id}/versions', input);
  return { type, versions: list.data };
}

const id = idOf('agreement_version_id');

export const actions = {
  add: calling('POST /agreements/versions', [{ name: 'type', kind: 'number' }, ...DRAFT]),
  change: calling('PUT /agreements/versions/{agreement_version_id}', [id, ...DRAFT]),
  publish: calling('PUT /agreements/versions/{agreement_version_id}', [id], (input) => ({ ...input, is_active: true })),
  remove: calling('DELETE /agreements/versions/{agreement_version_id}', [id]),
};
