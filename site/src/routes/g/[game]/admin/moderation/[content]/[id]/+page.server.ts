import { error } from '@sveltejs/kit';
import { apiOf } from '#api';
import { claiming, decide, undo } from '../../decide.ts';
import type { PageServerLoadEvent } from './$types';

const RESOURCES = ['mods', 'guides', 'collections', 'comments'] as const;
const LAST = 20;

/** Everything that a decision may need: the content, its files and findings, and the history of its author. */
export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const api = apiOf(event);
  const content = RESOURCES.find((each) => each === event.params.content);
  if (!content) error(404, { message: '' });
  const named = { game_id: game.id, content, content_id: Number(event.params.id) || 0 };
  const state = await api.call('GET /games/{game_id}/moderation/{content}/{content_id}', named);
  const queued = await api.call('GET /games/{game_id}/moderation', {
    game_id: game.id,
    resource: content,
    id: named.content_id,
    'status-in': [0, 3],
    _limit: 1,
  });
  const mod = content === 'mods' ? await modOf(api, game.id, named.content_id) : undefined;
  const authorId = mod?.mod.submitted_by.id ?? queued.data[0]?.submitted_by ?? 0;
  const ofAuthor = { game_id: game.id, author_id: authorId, _sort: '-id', _limit: LAST } as const;
  const log = await api.call('GET /games/{game_id}/audit', {
    game_id: game.id,
    resource: content,
    resource_id: named.content_id,
    _sort: '-id',
    _limit: LAST,
  });
  return {
    content,
    id: named.content_id,
    state,
    changes: await api.call('GET /games/{game_id}/moderation/{content}/{content_id}/changes', named),
    claimedBy: queued.data[0]?.claimed_by ?? 0,
    name: mod?.mod.name ?? queued.data[0]?.name ?? `#${named.content_id}`,
    mod: mod?.mod,
    files: mod?.files ?? [],
    findings: mod?.findings ?? [],
    authorId,
    log: log.data,
    reports: (
      await api.call('GET /games/{game_id}/reports', {
        game_id: game.id,
        resource: content,
        resource_id: named.content_id,
        'status-in': [0, 1],
        _sort: '-id',
        _limit: LAST,
      })
    ).data,
    reported: authorId
      ? (await api.call('GET /games/{game_id}/reports', { ...ofAuthor, 'status-in': [0, 1] })).result_total
      : 0,
    deleted: authorId
      ? (
          await api.call('GET /games/{game_id}/moderation', {
            game_id: game.id,
            submitted_by: authorId,
            status: 3,
            _limit: 1,
          })
        ).result_total
      : 0,
    accepted: authorId
      ? (await api.call('GET /games/{game_id}/mods', { game_id: game.id, submitted_by: authorId, _limit: 1 }))
          .result_total
      : 0,
  };
}

async function modOf(api: ReturnType<typeof apiOf>, game_id: number, mod_id: number) {
  const found = await api.attempt('GET /games/{game_id}/mods/{mod_id}', { game_id, mod_id });
  if (!found.ok) return undefined;
  const files = await api.attempt('GET /games/{game_id}/mods/{mod_id}/files', {
    game_id,
    mod_id,
    _sort: '-id',
    _limit: LAST,
  });
  const findings = await api.call('GET /games/{game_id}/findings', { game_id, mod_id, _sort: '-id', _limit: LAST });
  return { mod: found.value, files: files.ok ? files.value.data : [], findings: findings.data };
}

export const actions = { decide, undo, claim: claiming('PUT'), release: claiming('DELETE') };
