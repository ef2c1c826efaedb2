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

export const actions = {
  save: async (event: Parameters<ReturnType<typeof calling>>[0]) => {
    const form = await event.request.clone().formData();
    const save = calling('PUT /games/{game_id}', fieldsOf(form), ({ other_urls, ...input }) => ({
      ...input,
      ...(Array.isArray(other_urls) && { other_urls: links(other_urls) }),
    }));
    return save(event);
  },
  staff: calling('PUT /games/{game_id}', STAFF_FIELDS),
  remove: calling('DELETE /games/{game_id}'),
};
