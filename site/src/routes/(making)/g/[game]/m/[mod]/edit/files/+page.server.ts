import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, pagingOf, refused } from '#api';
import { modOf } from '#making/finding.ts';
import { filesOf, textOf, textsOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

const PER_PAGE = 20;
const SOURCES_MAX = 20;

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  const api = apiOf(event);
  const named = { game_id: game.id, mod_id: mod.id };
  const { part, ...paging } = pagingOf(event.url, PER_PAGE);
  const list = { ...named, _sort: '-date_added' as const };
  const [files, releases, cooking] = await Promise.all([
    api.call('GET /games/{game_id}/mods/{mod_id}/files', { ...list, ...part, platform_status: 'live_and_pending' }),
    api.call('GET /me/releases', { _limit: 100 }),
    game.cloud_cooking_status === 0 ? undefined : cookingOf(event, named),
  ]);
  return {
    ...paging,
    total: files.result_total,
    files: files.data,
    /** Files that become live once a member of the team has confirmed it. */
    unconfirmed: releases.data.filter(({ mod_id }) => mod_id === mod.id).map(({ modfile_id }) => modfile_id),
    cooking,
  };
}

async function cookingOf(event: PageServerLoadEvent, named: { game_id: number; mod_id: number }) {
  const api = apiOf(event);
  const list = { ...named, _limit: SOURCES_MAX, _sort: '-date_added' as const };
  const [sources, cooks] = await Promise.all([
    api.attempt('GET /games/{game_id}/mods/{mod_id}/sources', list),
    api.attempt('GET /games/{game_id}/mods/{mod_id}/cooks', list),
  ]);
  return sources.ok && cooks.ok ? { sources: sources.value.data, cooks: cooks.value.data } : undefined;
}

/** An action on one file, source or cook of the mod. */
const onOne =
  (
    act: (
      found: Awaited<ReturnType<typeof modOf>>,
      id: string,
      form: FormData,
    ) => Promise<Parameters<typeof outcome>[0]>,
  ) =>
  async (event: RequestEvent) => {
    const found = await modOf(event);
    const form = await event.request.formData();
    return outcome(await act(found, textOf(form, 'id') ?? '', form), form);
  };

type Done = { ok: true } | { ok: false; error: Parameters<typeof refused>[0] };
const outcome = (done: Done, form: FormData) =>
  done.ok ? { done: textOf(form, 'id') ?? '' } : refused(done.error, form);

const FILE = '/games/{game_id}/mods/{mod_id}/files/{file_id}';

export const actions = {
  /** With `upload_id` what the script has uploaded; otherwise a small file of the form itself. */
  async add(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const platforms = textsOf(form, 'platforms');
    const uploadId = textOf(form, 'upload_id');
    const [filedata] = filesOf(form, 'filedata');
    const fields = {
      ...named,
      version: textOf(form, 'version') ?? '',
      changelog: textOf(form, 'changelog') ?? '',
      metadata_blob: textOf(form, 'metadata_blob') ?? '',
      active: textOf(form, 'active') === 'true',
      ...(platforms.length > 0 && { platforms }),
      ...(uploadId ? { upload_id: uploadId } : filedata && { filedata }),
    };
    const done =
      textOf(form, 'kind') === 'source'
        ? await api.attempt('POST /games/{game_id}/mods/{mod_id}/sources', fields)
        : await api.attempt('POST /games/{game_id}/mods/{mod_id}/files', fields);
    return done.ok ? { added: done.value.id } : refused(done.error, form);
  },
  change: onOne(({ api, named }, id, form) =>
    api.attempt(`PUT ${FILE}`, {
      ...named,
      file_id: Number(id),
      version: textOf(form, 'version') ?? '',
      changelog: textOf(form, 'changelog') ?? '',
      metadata_blob: textOf(form, 'metadata_blob') ?? '',
    }),
  ),
  show: onOne(({ api, named }, id) => api.attempt(`PUT ${FILE}`, { ...named, file_id: Number(id), active: true })),
  hide: onOne(({ api, named }, id) => api.attempt(`PUT ${FILE}`, { ...named, file_id: Number(id), active: false })),
  remove: onOne(({ api, named }, id) => api.attempt(`DELETE ${FILE}`, { ...named, file_id: Number(id) })),
  removeSource: onOne(({ api, named }, id) =>
    api.attempt('DELETE /games/{game_id}/mods/{mod_id}/sources/{source_id}', { ...named, source_id: Number(id) }),
  ),
  cook: onOne(({ api, named }, id) =>
    api.attempt('POST /games/{game_id}/mods/{mod_id}/cooks', { ...named, modfile: Number(id) }),
  ),
  cancelCook: onOne(({ api, named }, id) =>
    api.attempt('DELETE /games/{game_id}/mods/{mod_id}/cooks/{cook_uuid}', { ...named, cook_uuid: id }),
  ),
};
