import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { GROUP, REMOVAL, RENAMING } from './fields.ts';

const PER_PAGE = 100;

export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const input = { game_id: game.id, show_hidden_tags: true, _limit: PER_PAGE };
  return { groups: (await apiOf(event).call('GET /games/{game_id}/tags', input)).data };
}

/** A line such as `de: Karten = Maps`: a language, the translation, and the tag, or no tag for the group itself. */
function translated(lines: readonly string[]) {
  const names: Record<string, string> = {};
  const tags = new Map<string, Record<string, string>>();
  for (const line of lines) {
    const [, language, text, tag] = /^([a-zA-Z0-9-]+):\s*(.+?)(?:\s*=\s*(.+))?$/.exec(line) ?? [];
    if (!language || !text) throw new Error(line);
    if (tag) tags.set(tag, { ...tags.get(tag), [language]: text });
    else names[language] = text;
  }
  return {
    ...(Object.keys(names).length > 0 && { name_localization: names }),
    ...(tags.size > 0 && { tags_localization: [...tags].map(([tag, translations]) => ({ tag, translations })) }),
  };
}

export const actions = {
  add: calling('POST /games/{game_id}/tags', GROUP, ({ translations, ...input }) => ({
    ...input,
    ...translated(translations as string[]),
  })),
  remove: calling('DELETE /games/{game_id}/tags', REMOVAL),
  rename: calling('PUT /games/{game_id}/tags/rename', RENAMING),
};
