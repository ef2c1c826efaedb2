import type { Client } from '@modstead/client';

const GAMES_MAX = 100;

/** Names games by their ids; a game that is hidden has no name. */
export async function gamesNamed(
  api: Pick<Client, 'call'>,
  ids: readonly (number | null)[],
): Promise<(id: number | null) => string | undefined> {
  const wanted = [...new Set(ids)].filter((id): id is number => id !== null && id > 0).slice(0, GAMES_MAX);
  const games = wanted.length > 0 ? (await api.call('GET /games', { 'id-in': wanted, _limit: GAMES_MAX })).data : [];
  const names = new Map(games.map(({ id, name }) => [id, name]));
  return (id) => (id === null ? undefined : names.get(id));
}
