import { apiOf } from '#api';
import { findMod } from '#making/finding.ts';
import type { LayoutServerLoadEvent } from './$types';

/** All pages of the editor have the mod in English, and what moderators decided on it, which only its teams may see. */
export async function load(event: LayoutServerLoadEvent) {
  const { game } = await event.parent();
  // Loaded again for every page, because moderators decide meanwhile.
  event.depends(`modstead:edit${event.url.pathname}`);
  const api = apiOf(event);
  const mod = await findMod(api, game.id, event.params.mod);
  const content = { content: 'mods', content_id: mod.id } as const;
  const path = 'GET /games/{game_id}/moderation/{content}/{content_id}';
  return { mod, moderation: await api.call(path, { game_id: game.id, ...content }) };
}
