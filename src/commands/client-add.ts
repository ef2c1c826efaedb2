import { REDIRECT_URIS_MAX } from '../catalogue/games/redirect-uris.ts';
import { OPERATOR } from '../platform/access/caller.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { DEVICE_GRANT, GRANTS, type Grant, registerAudited } from '../signin/oauth/clients.ts';
import { isRedirectUri } from '../signin/oauth/redirects.ts';
import { columns, command, idOf, misuse, Refusal } from './invocation/command.ts';
import { requireKnownGame, withApp } from './operator.ts';

export default command({
  name: 'client add',
  usage: '--game GAME_ID [--redirect-uri URI]… [--grants LIST] [--require-pkce] [--standard] [--name N]',
  says: 'Registers an OAuth 2.0 client of a game and prints its secret, which is shown only once.',
  json: true,
  options: {
    game: { type: 'string', value: 'GAME_ID', required: true, says: 'the game it belongs to' },
    'redirect-uri': {
      type: 'string',
      multiple: true,
      value: 'URI',
      says: `where users return to: https://…, or http://localhost…; a game has up to ${REDIRECT_URIS_MAX}`,
    },
    grants: {
      type: 'string',
      value: 'LIST',
      says: `of ${GRANTS.join(',')} (default: the first three, without --redirect-uri only client_credentials)`,
    },
    'require-pkce': { type: 'boolean', says: 'refuse sign-ins without a code challenge (RFC 7636)' },
    standard: {
      type: 'boolean',
      says: 'allow it to omit grant_type at authorize and redirect_uri at a refresh, as RFC 6749 does',
    },
    name: { type: 'string', value: 'N', says: 'shown on the consent page (default: the game’s name)' },
  },
  run: async ({ values, settings, environment }) => {
    const gameId = idOf(values.game, '--game');
    const redirectUris = redirectUrisOf(values['redirect-uri']);
    const grants = grantsOf(values.grants, redirectUris);
    return withApp(settings(), environment, async (app) => {
      const game = await requireKnownGame(app, gameId);
      const name = values.name?.trim() || game.name;
      const { 'require-pkce': requiresPkce = false, standard = false } = values;
      const client = await app.db
        .write((transaction) =>
          registerAudited(app, transaction, OPERATOR, { gameId, name, redirectUris, grants, requiresPkce, standard }),
        )
        .catch(refusing(name));
      return {
        object: client,
        text: columns([
          ['Client id', `${client.client_id}`],
          ['Secret', `${client.client_secret} (shown only now)`],
          ['Grants', grants.join(', ')],
        ]),
      };
    });
  },
});

/** Errors that only the database can detect: a taken name, and too many redirect URIs. */
const refusing =
  (name: string) =>
  (error: unknown): never => {
    const rule = error instanceof ApiError ? error.fields?.[0]?.rule : undefined;
    if (rule === 'name_reserved')
      throw new Refusal(`The name "${name}" looks like one of the service or its staff; choose another with --name.`);
    if (rule === 'name_of_another')
      throw new Refusal(
        `The name "${name}" looks like one of another game or its application; choose another with --name.`,
      );
    if (rule === 'redirect_uris_max')
      throw new Refusal(`The clients of a game have up to ${REDIRECT_URIS_MAX} redirect URIs together.`);
    throw error;
  };

function redirectUrisOf(uris: readonly string[]): readonly string[] {
  if (uris.length > REDIRECT_URIS_MAX)
    throw misuse(`--redirect-uri may be given ${REDIRECT_URIS_MAX} times, not ${uris.length} times.`);
  const wrong = uris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined)
    throw misuse(
      `--redirect-uri must start with https:// or http://localhost, and have neither a fragment nor characters that need escaping, not "${wrong}".`,
    );
  return uris;
}

function grantsOf(text: string | undefined, uris: readonly string[]): readonly Grant[] {
  if (text === undefined)
    return uris.length > 0 ? GRANTS.filter((grant) => grant !== DEVICE_GRANT) : ['client_credentials'];
  const names = text.split(/[\s,]+/).filter(Boolean);
  const wrong = names.find((name) => !GRANTS.includes(name as Grant));
  if (wrong !== undefined || names.length === 0)
    throw misuse(`--grants must be of ${GRANTS.join(', ')}, not "${wrong ?? text}".`);
  if (names.includes('authorization_code') && uris.length === 0)
    throw misuse('The grant authorization_code needs a --redirect-uri to return users to.');
  if (names.includes('refresh_token') && !names.includes('authorization_code'))
    throw misuse('The grant refresh_token goes with authorization_code; name both.');
  return names as Grant[];
}
