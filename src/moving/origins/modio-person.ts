import type { Fetcher } from './fetcher.ts';
import { add, type Lines } from './lines.ts';
import type { List, User } from './modio-objects.ts';

const PAGE = 100;

/** What a person who passed on a token subscribed to and rated, or undefined if the token is not valid. */
export async function fetchPerson(fetcher: Fetcher, game: number): Promise<{ user: User; lines: Lines } | undefined> {
  const user = await fetcher.optional<User>('me');
  if (!user) return undefined;
  const lines: Lines = {};
  const subscribed = await listOf<{ id: number }>(fetcher, 'me/subscribed', game);
  for (const { id } of subscribed) add(lines, 'subscriptions', { user_id: user.id, mod_id: id });
  const rated = await listOf<{ mod_id: number; rating: number; date_added: number }>(fetcher, 'me/ratings', game);
  for (const { mod_id, rating, date_added } of rated)
    add(lines, 'ratings', {
      user_id: user.id,
      game_id: game,
      resource: 'mods',
      resource_id: mod_id,
      rating,
      date_added,
    });
  return { user, lines };
}

async function listOf<T>(fetcher: Fetcher, path: string, game: number): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const { data } = await fetcher.json<List<T>>(path, { game_id: game, _limit: PAGE, _offset: found.length });
    found.push(...data);
    if (data.length < PAGE) return found;
  }
}
