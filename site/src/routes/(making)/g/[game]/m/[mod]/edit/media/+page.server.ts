import type { RequestEvent } from '@sveltejs/kit';
import { refused } from '#api';
import { modOf } from '#making/finding.ts';
import { filesOf, textOf, textsOf } from '#making/forms.ts';

/** The kinds of media, each with its own order. */
const KINDS = ['images', 'youtube', 'sketchfab'] as const;
type Kind = (typeof KINDS)[number];
const kindOf = (form: FormData): Kind => KINDS.find((kind) => kind === textOf(form, 'kind')) ?? 'images';

async function reorder(event: RequestEvent, form: FormData, orderOf: (names: string[]) => string[]) {
  const { api, mod, named } = await modOf(event);
  const kind = kindOf(form);
  const names = kind === 'images' ? mod.media.images.map(({ filename }) => filename) : mod.media[kind];
  const order = { [kind]: orderOf([...names]) };
  const done = await api.attempt('PUT /games/{game_id}/mods/{mod_id}/media/reorder', { ...named, ...order });
  return done.ok ? {} : refused(done.error);
}

export const actions = {
  async add(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const images = filesOf(form, 'images');
    const added = {
      ...(images.length > 0 && { images }),
      ...Object.fromEntries(
        (['youtube', 'sketchfab'] as const)
          .map((kind) => [kind, textsOf(form, kind)] as const)
          .filter(([, addresses]) => addresses.length > 0),
      ),
    };
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}/media', { ...named, ...added });
    return done.ok ? {} : refused(done.error, form);
  },
  async move(event: RequestEvent) {
    const form = await event.request.formData();
    return reorder(event, form, (names) => {
      const from = names.indexOf(textOf(form, 'item') ?? '');
      const to = from + (textOf(form, 'by') === '-1' ? -1 : 1);
      if (from >= 0 && to >= 0 && to < names.length) names.splice(to, 0, ...names.splice(from, 1));
      return names;
    });
  },
  /** The whole order at once, after a drag. */
  async order(event: RequestEvent) {
    const form = await event.request.formData();
    return reorder(event, form, () => textsOf(form, 'item'));
  },
  async remove(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const removed = { [kindOf(form)]: textsOf(form, 'item') };
    const done = await api.attempt('DELETE /games/{game_id}/mods/{mod_id}/media', { ...named, ...removed });
    return done.ok ? {} : refused(done.error);
  },
};
