import { type RequestEvent, redirect } from '@sveltejs/kit';
import { refused } from '#api';
import { collectionAddress, collectionsAddress } from '#components/addresses.ts';
import { collectionFrom } from '#making/collection-form.ts';
import { collectionOf } from '#making/finding.ts';
import { numbersOf, textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

const MODS_MAX = 100;
const FOUND_MAX = 8;
const ALL_IN_ORDER = { _limit: MODS_MAX, _sort: 'added_to_collection', show_hidden_mods: true } as const;
const COLLECTION = '/games/{game_id}/collections/{collection_id}';

export async function load(event: PageServerLoadEvent) {
  const { api, collection, named } = await collectionOf(event);
  const query = event.url.searchParams.get('find')?.trim() ?? '';
  const [moderation, mods, found] = await Promise.all([
    // Only its author and the game's team may see it.
    api.call('GET /games/{game_id}/moderation/{content}/{content_id}', {
      game_id: named.game_id,
      content: 'collections',
      content_id: collection.id,
    }),
    api.call(`GET ${COLLECTION}/mods`, { ...named, ...ALL_IN_ORDER }),
    query ? api.call('GET /games/{game_id}/mods', { game_id: named.game_id, _q: query, _limit: FOUND_MAX }) : undefined,
  ]);
  const known = new Set(mods.data.map(({ id }) => id));
  return { collection, moderation, mods: mods.data, query, found: found?.data.filter(({ id }) => !known.has(id)) };
}

/** Sends all mods in their order. */
async function putMods(event: RequestEvent, change: (ids: number[], form: FormData) => number[]) {
  const { api, named } = await collectionOf(event);
  const form = await event.request.formData();
  const { data } = await api.call(`GET ${COLLECTION}/mods`, { ...named, ...ALL_IN_ORDER });
  const mod_ids = change(
    data.map(({ id }) => id),
    form,
  );
  const done = await api.attempt(`POST ${COLLECTION}`, { ...named, mod_ids, sync: true });
  return done.ok ? {} : refused(done.error);
}

export const actions = {
  async save(event: RequestEvent) {
    const { api, named } = await collectionOf(event);
    const form = await event.request.formData();
    const done = await api.attempt(`POST ${COLLECTION}`, { ...named, ...collectionFrom(form) });
    if (!done.ok) return refused(done.error, form);
    if (done.value.name_id !== event.params['collection'])
      redirect(303, `${collectionAddress(event.params['game']!, done.value.name_id)}/edit`);
    return { saved: true };
  },
  async add(event: RequestEvent) {
    const { api, named } = await collectionOf(event);
    const mod_ids = numbersOf(await event.request.formData(), 'id');
    const done = await api.attempt(`POST ${COLLECTION}`, { ...named, mod_ids });
    return done.ok ? {} : refused(done.error);
  },
  async remove(event: RequestEvent) {
    const { api, named } = await collectionOf(event);
    const mod_ids = numbersOf(await event.request.formData(), 'id');
    const done = await api.attempt(`DELETE ${COLLECTION}/mods`, { ...named, mod_ids });
    return done.ok ? {} : refused(done.error);
  },
  move: (event: RequestEvent) =>
    putMods(event, (ids, form) => {
      const from = ids.indexOf(Number(textOf(form, 'id')));
      const to = from + (textOf(form, 'by') === '-1' ? -1 : 1);
      if (from >= 0 && to >= 0 && to < ids.length) ids.splice(to, 0, ...ids.splice(from, 1));
      return ids;
    }),
  /** The whole order at once, after a drag. A mod that came in between stays, at the end. */
  order: (event: RequestEvent) =>
    putMods(event, (ids, form) => {
      const wanted = numbersOf(form, 'id').filter((id) => ids.includes(id));
      return [...wanted, ...ids.filter((id) => !wanted.includes(id))];
    }),
  async appeal(event: RequestEvent) {
    const { api, named } = await collectionOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/moderation/{content}/{content_id}/appeal', {
      game_id: named.game_id,
      content: 'collections',
      content_id: named.collection_id,
      reason: textOf(form, 'reason') ?? '',
    });
    return done.ok ? { appealed: true } : refused(done.error, form);
  },
  async delete(event: RequestEvent) {
    const { api, named } = await collectionOf(event);
    const done = await api.attempt(`DELETE ${COLLECTION}`, named);
    if (!done.ok) return refused(done.error);
    redirect(303, collectionsAddress(event.params['game']!));
  },
};
