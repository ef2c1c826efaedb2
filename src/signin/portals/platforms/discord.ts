import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, objectOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';

/** Discord: an access token of the game's own application. One that somebody else's application got proves nothing. */
export async function verifyDiscord({ app, settings, credentials }: Asking): Promise<Identity> {
  const clientId = textOf(settings, 'client_id');
  if (!clientId) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { ok, body } = await askPlatform(
    app,
    addressOf(app, 'discord', 'https://discord.com/api/v10/oauth2/@me'),
    { headers: { authorization: `Bearer ${credentials.discord_token}` } },
    'DISCORD_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!ok || objectOf(body['application'])['id'] !== clientId)
    throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const user = objectOf(body['user']);
  const id = stringOf(user['id']);
  // Without the scope `identify` Discord does not say whose token it is.
  if (!id) throw new ApiError('DISCORD_UNABLE_TO_GET_ACCOUNT_DATA');
  const avatar = stringOf(user['avatar']);
  return {
    portal: 'discord',
    id,
    displayName: stringOf(user['global_name']) || stringOf(user['username']),
    avatar: avatar && `https://cdn.discordapp.com/avatars/${id}/${avatar}.png`,
  };
}
