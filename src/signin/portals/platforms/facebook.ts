import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, textOf, type Verification } from '../identity.ts';
import { addressOf, idTextOf, objectOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, verifyLikeGame } from '../web/code-flow.ts';

const GRAPH = 'https://graph.facebook.com/v23.0';

/** Facebook: an access token of the game's own application. */
async function verifyFacebook({ app, settings, credentials }: Verification): Promise<Identity> {
  const appId = textOf(settings, 'app_id');
  const secret = textOf(settings, 'app_secret');
  if (!appId || !secret) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { facebook_token: token = '' } = credentials;
  const ask = (path: string, query: Record<string, string>) =>
    requestPlatform(
      app,
      `${addressOf(app, 'facebook', GRAPH + path)}?${new URLSearchParams(query)}`,
      {},
      'FACEBOOK_UNABLE_TO_GET_ACCOUNT_DATA',
    );
  const debugged = await ask('/debug_token', { input_token: token, access_token: `${appId}|${secret}` });
  const data = objectOf(debugged.body['data']);
  if (!debugged.ok || data['is_valid'] !== true || idTextOf(data['app_id']) !== appId)
    throw new ApiError('FACEBOOK_INVALID_TOKEN');
  const { ok, body } = await ask('/me', { fields: 'id,name,picture', access_token: token });
  const id = idTextOf(body['id']);
  if (!ok || !id || id !== idTextOf(data['user_id'])) throw new ApiError('FACEBOOK_UNABLE_TO_GET_ACCOUNT_DATA');
  const avatar = stringOf(objectOf(objectOf(body['picture'])['data'])['url']);
  return { portal: 'facebook', id, displayName: stringOf(body['name']), avatar };
}

const webFlow = codeFlow({
  portal: 'facebook',
  needs: ['app_id', 'app_secret'],
  authorizeUrl: () => 'https://www.facebook.com/v23.0/dialog/oauth',
  tokenUrl: () => 'https://graph.facebook.com/v23.0/oauth/access_token',
  scope: () => 'public_profile',
  clientId: (settings) => textOf(settings, 'app_id')!,
  clientSecret: (settings) => textOf(settings, 'app_secret')!,
  identify: verifyLikeGame(verifyFacebook, 'facebook_token', 'access_token'),
  refusals: { ...DEFAULT_ERRORS, unreachable: 'FACEBOOK_UNABLE_TO_GET_ACCOUNT_DATA' },
});

export const facebook: PortalDescription = {
  token: { verify: verifyFacebook, needs: ['facebook_token'] },
  web: webFlow,
};
