import { ApiError } from '../../../platform/errors/catalogue.ts';
import { askPlatform, idTextOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, type PortalSettings, textOf } from '../identity.ts';
import { codeFlow, type TokenAnswer } from './code-flow.ts';

/** Studios let it through their walls by this name. */
const USER_AGENT = 'ModioSSO/1.0';

const required = (settings: PortalSettings | undefined, name: string): string => textOf(settings, name)!;

/** The studio's own accounts on the web: an authorization code flow at addresses that the game's settings name. */
export const studioFlow = codeFlow({
  portal: 'sso',
  needs: ['authorize_url', 'token_url', 'userinfo_url', 'client_id', 'client_secret'],
  authorizeUrl: (settings) => required(settings, 'authorize_url'),
  tokenUrl: (settings) => required(settings, 'token_url'),
  scope: (settings) => textOf(settings, 'scopes') ?? '',
  clientId: (settings) => required(settings, 'client_id'),
  clientSecret: (settings) => required(settings, 'client_secret'),
  authentication: (settings) => (textOf(settings, 'client_authentication') === 'basic' ? 'basic' : 'post'),
  issuer: (settings) => textOf(settings, 'issuer') ?? new URL(required(settings, 'authorize_url')).origin,
  userAgent: USER_AGENT,
  identify: whoIs,
  refusals: {
    notSetUp: 'STUDIO_OAUTH_NOT_CONFIGURED',
    state: 'STUDIO_OAUTH_STATE_INVALID',
    denied: 'STUDIO_OAUTH_DENIED',
    response: 'STUDIO_OAUTH_RESPONSE_INVALID',
    unreachable: 'STUDIO_OAUTH_TOKEN_URL_UNREACHABLE',
    token: 'STUDIO_OAUTH_TOKEN_INVALID',
  },
});

async function whoIs({ app, settings }: Asking, { access_token, token_type }: TokenAnswer): Promise<Identity> {
  const token = stringOf(access_token);
  // Any other kind would have to be shown in a way of its own (RFC 6749, section 7.1).
  if (!token || stringOf(token_type).toLowerCase() !== 'bearer') throw new ApiError('STUDIO_OAUTH_TOKEN_INVALID');
  const { ok, body } = await askPlatform(
    app,
    required(settings, 'userinfo_url'),
    { headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': USER_AGENT } },
    'STUDIO_OAUTH_USERINFO_UNREACHABLE',
  );
  if (!ok) throw new ApiError('STUDIO_OAUTH_USERINFO_UNREACHABLE');
  const id = idTextOf(body[textOf(settings, 'portal_id_claim') ?? 'sub']);
  if (!id) throw new ApiError('STUDIO_OAUTH_PORTAL_ID_MISSING');
  return {
    portal: 'sso',
    id,
    displayName: stringOf(body[textOf(settings, 'display_name_claim') ?? 'name']),
    avatar: stringOf(body[textOf(settings, 'avatar_claim') ?? 'picture']),
  };
}
