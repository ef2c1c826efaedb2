import { type RequestEvent, redirect } from '@sveltejs/kit';
import { gameAddress } from '#components/addresses.ts';
import { calling } from '#components/dashboard/actions.ts';
import { GROUPS, STAFF_FIELDS } from './fields.ts';

const fieldsOf = (form: FormData) => GROUPS.find(({ name }) => name === form.get('at'))?.fields ?? [];

/** A line is an address, and the words before it its label. */
function links(lines: readonly string[]) {
  return lines.map((line) => {
    const [, label, url] = /^(.*?)\s*(\S+)$/.exec(line)!;
    return { label: label || url, url };
  });
}

const removing = calling('DELETE /games/{game_id}');

export const actions = {
  save: async (event: RequestEvent) => {
    const form = await event.request.clone().formData();
    const save = calling('PUT /games/{game_id}', fieldsOf(form), ({ other_urls, ...input }) => ({
      ...input,
      ...(Array.isArray(other_urls) && { other_urls: links(other_urls) }),
    }));
    const result = await save(event);
    const name = 'answer' in result ? result.answer?.['name_id'] : undefined;
    // This page has moved with the game.
    if (name !== undefined && name !== event.params.game) redirect(303, `${gameAddress(String(name))}/admin/settings`);
    return result;
  },
  staff: calling('PUT /games/{game_id}', STAFF_FIELDS),
  remove: async (event: RequestEvent) => {
    const result = await removing(event);
    if ('done' in result) redirect(303, '/studio');
    return result;
  },
};
