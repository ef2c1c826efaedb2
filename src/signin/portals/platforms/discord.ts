import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, textOf, type Verification } from '../identity.ts';
import { addressOf, objectOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, verifyLikeGame } from '../web/code-flow.ts';

/** Discord: an access token of the game’s own application. A token of another application proves nothing. */
async function verifyDiscord({ app, settings, credentials }: Verification): Promise<Identity> {
  const clientId = textOf(settings, 'client_id');
  if (!clientId) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { ok, body } = await requestPlatform(
    app,
    addressOf(app, 'discord', 'https://discord.com/api/v10/oauth2/@me'),
    { headers: { authorization: `Bearer ${credentials.discord_token}` } },
    'DISCORD_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!ok || objectOf(body['application'])['id'] !== clientId)
    throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const user = objectOf(body['user']);
  const id = stringOf(user['id']);
  // Without the scope `identify` Discord does not return the user.
  if (!id) throw new ApiError('DISCORD_UNABLE_TO_GET_ACCOUNT_DATA');
  const avatar = stringOf(user['avatar']);
  return {
    portal: 'discord',
    id,
    displayName: stringOf(user['global_name']) || stringOf(user['username']),
    avatar: avatar && `https://cdn.discordapp.com/avatars/${id}/${avatar}.png`,
  };
}

const webFlow = codeFlow({
  portal: 'discord',
  needs: ['client_id', 'client_secret'],
  authorizeUrl: () => 'https://discord.com/oauth2/authorize',
  tokenUrl: () => 'https://discord.com/api/v10/oauth2/token',
  scope: () => 'identify',
  clientId: (settings) => textOf(settings, 'client_id')!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  identify: verifyLikeGame(verifyDiscord, 'discord_token', 'access_token'),
  refusals: { ...DEFAULT_ERRORS, unreachable: 'DISCORD_UNABLE_TO_GET_ACCOUNT_DATA' },
});

export const discord: PortalDescription = {
  token: { verify: verifyDiscord, needs: ['discord_token'] },
  web: webFlow,
};
