import type { Input, OwnToken } from '@modstead/client';
import { apiOf } from '#api';
import { calls, numberOf, textOf } from '../../actions.ts';
import { gamesNamed } from '../games.ts';
import type { PageServerLoadEvent } from './$types';

const GAMES_MAX = 100;

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const [connections, tokens, games] = await Promise.all([
    api.call('GET /me/connections', { _limit: 100 }),
    api.call('GET /me/tokens', { _limit: 100 }),
    api.call('GET /games', { _sort: 'name', _limit: GAMES_MAX }),
  ]);
  const grants = grantsOf(tokens.data);
  const nameOf = await gamesNamed(
    api,
    [...connections.data, ...grants].map(({ game_id }) => game_id),
  );
  return {
    connections: connections.data.map((connection) => ({ ...connection, game: nameOf(connection.game_id) })),
    grants: grants.map((grant) => ({ ...grant, game: nameOf(grant.game_id) })),
    games: games.data.map(({ id, name }) => ({ id, name })),
  };
}

type Grant = OwnToken & { readonly client: NonNullable<OwnToken['client']> };

/** One per application: revoking any of its tokens ends them all. */
function grantsOf(tokens: readonly OwnToken[]): Grant[] {
  const grants = new Map<number, Grant>();
  for (const token of tokens) {
    const { client } = token;
    if (!client) continue;
    const before = grants.get(client.id);
    const scopes = [...new Set([...(before?.scopes ?? []), ...token.scopes])];
    grants.set(client.id, {
      ...token,
      client,
      scopes,
      game_id: before && before.game_id !== token.game_id ? null : token.game_id,
    });
  }
  return [...grants.values()];
}

export const actions = {
  unlink: calls('DELETE /me/connections/{portal}', 'connection', (form) => ({
    portal: textOf(form, 'portal') as Input<'DELETE /me/connections/{portal}'>['portal'],
  })),
  revoke: calls('DELETE /me/tokens/{token_id}', 'revoked', (form) => ({ token_id: numberOf(form, 'token_id') })),
};
