import type { Client, Notification } from '@modstead/client';
import { collectionAddress, gameAddress, guideAddress, modAddress, userAddress } from '#components/addresses.ts';

/** What a notification is about. Something that is hidden or gone has neither. */
export interface Subject {
  readonly name?: string;
  readonly href?: string;
}

type Api = Pick<Client, 'call' | 'attempt'>;
type Named = { readonly id: number; readonly name: string; readonly name_id: string };

const LIMIT = 100;

/** Loads the names of what notifications are about, with one call for each kind of content of a game. */
export async function subjectsOf(
  api: Api,
  notifications: readonly Notification[],
): Promise<(notification: Notification) => Subject> {
  const gameIds = [
    ...notifications.map(({ game_id }) => game_id),
    ...notifications.flatMap(({ resource, resource_id }) => (resource === 'games' ? [resource_id] : [])),
  ].filter((id) => id > 0);
  const games = await named(api, 'GET /games', {}, gameIds);
  const known = new Map<string, Subject>();
  for (const game of games.values()) {
    known.set(`games/${game.id}`, { name: game.name, href: gameAddress(game.name_id) });
    for (const { resource, operation, address, also } of CONTENTS) {
      const ids = notifications.flatMap((each) =>
        each.resource === resource && each.game_id === game.id ? [each.resource_id] : [],
      );
      for (const { id, name, name_id } of (await named(api, operation, { game_id: game.id, ...also }, ids)).values())
        known.set(`${resource}/${id}`, { name, href: address(game.name_id, name_id) });
    }
  }
  for (const id of new Set(notifications.flatMap((each) => (each.resource === 'threads' ? [each.resource_id] : [])))) {
    const thread = await api.attempt('GET /me/messages/threads/{thread_id}', { thread_id: id });
    if (thread.ok) known.set(`threads/${id}`, { name: thread.value.subject, href: `/messages/${id}` });
  }
  return (notification) => subjectOf(notification, known);
}

/** Lists show public and free mods; these filters add paid ones, and those of the visitor's own teams. */
const ALSO_OWN = { revenue_type: 2, 'status-in': [0, 1], 'visible-in': [0, 1] };

const CONTENTS = [
  { resource: 'mods', operation: 'GET /games/{game_id}/mods', address: modAddress, also: ALSO_OWN },
  { resource: 'guides', operation: 'GET /games/{game_id}/guides', address: guideAddress, also: {} },
  { resource: 'collections', operation: 'GET /games/{game_id}/collections', address: collectionAddress, also: {} },
] as const;

async function named(
  api: Api,
  operation: 'GET /games' | (typeof CONTENTS)[number]['operation'],
  of: object,
  ids: readonly number[],
): Promise<Map<number, Named>> {
  const wanted = [...new Set(ids)].slice(0, LIMIT);
  if (wanted.length === 0) return new Map();
  const found = await api.attempt(operation as 'GET /games', { ...of, 'id-in': wanted, _limit: LIMIT });
  return new Map((found.ok ? found.value.data : []).map((each) => [each.id, each]));
}

function subjectOf(
  { resource, resource_id, user, kind, comment_id }: Notification,
  known: Map<string, Subject>,
): Subject {
  if (kind === 'follower' && user) return { name: user.username, href: userAddress(user.name_id) };
  const subject = known.get(`${resource}/${resource_id}`) ?? {};
  return comment_id > 0 && subject.href ? { ...subject, href: `${subject.href}#comments` } : subject;
}
