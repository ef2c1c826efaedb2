import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, idTextOf, objectOf, type PlatformAnswer, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';

/** itch.io: the token that its app gives to a game it starts, for that game alone. */
export async function verifyItchio({ app, settings, credentials }: Asking): Promise<Identity> {
  const gameId = textOf(settings, 'itch_game_id');
  if (!gameId) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { itchio_token: token = '' } = credentials;
  const { ok, body } = await askPlatform(
    app,
    addressOf(app, 'itchio', 'https://itch.io/api/1/jwt/me'),
    { headers: { authorization: `Bearer ${token}` } },
    'ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  const issuedFor = idTextOf(objectOf(objectOf(body['api_key'])['issuer'])['game_id']);
  if (!ok || 'errors' in body || issuedFor !== gameId) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  return itchioIdentityOf({ ok, body });
}

/** Whom itch.io says that a token belongs to, whichever kind of token was shown. */
export function itchioIdentityOf({ ok, body }: PlatformAnswer): Identity {
  const user = objectOf(body['user']);
  const id = idTextOf(user['id']);
  if (!ok || !id) throw new ApiError('ITCHIO_UNABLE_TO_GET_ACCOUNT_DATA');
  const displayName = stringOf(user['display_name']) || stringOf(user['username']);
  return { portal: 'itchio', id, displayName, avatar: stringOf(user['cover_url']) };
}
