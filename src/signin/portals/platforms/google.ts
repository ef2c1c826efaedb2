import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, listOf, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { addressOf, form, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, verifyLikeGame } from '../web/code-flow.ts';
import { confirmedEmail, onceUntil } from './claims.ts';

const KEYS = 'https://www.googleapis.com/oauth2/v3/certs';

/** Google: an ID token, or a server auth code that is exchanged for one. */
async function verifyGoogle(verification: Verification): Promise<Identity> {
  const { app, settings, credentials } = verification;
  const clients = listOf(settings, 'client_ids');
  if (clients.length === 0) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const token = credentials.id_token ?? (await exchange(verification, clients[0]!));
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'google', KEYS),
    algorithms: ['RS256'],
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    audiences: clients,
    claimsRequired: ['sub'],
    refusals: {
      invalid: 'GOOGLE_INVALID_TOKEN',
      early: 'GOOGLE_INVALID_TOKEN_NOT_VALID_BEFORE',
      late: 'GOOGLE_INVALID_TOKEN_NOT_VALID_AFTER',
      issuer: 'GOOGLE_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
      keys: 'GOOGLE_UNABLE_TO_GET_JWK_SIGNATURE',
    },
  });
  const id = stringOf(claims.sub);
  if (!id) throw new ApiError('GOOGLE_INVALID_TOKEN');
  return {
    portal: 'google',
    id,
    displayName: stringOf(claims['name']),
    avatar: stringOf(claims['picture']),
    email: confirmedEmail(claims),
    ticket: onceUntil(token, claims),
  };

  async function exchange({ credentials: { auth_code: code = '' } }: Verification, clientId: string): Promise<string> {
    const secret = textOf(settings, 'client_secret');
    if (!secret) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
    const url = addressOf(app, 'google', 'https://oauth2.googleapis.com/token');
    const fields = { grant_type: 'authorization_code', code, client_id: clientId, client_secret: secret };
    const { ok, body } = await requestPlatform(
      app,
      url,
      form({ ...fields, redirect_uri: textOf(settings, 'redirect_uri') ?? '' }),
      'GOOGLE_UNABLE_TO_GET_ACCOUNT_DATA',
    );
    const answered = stringOf(body['id_token']);
    if (!ok || !answered) throw new ApiError(ok ? 'GOOGLE_UNABLE_TO_GET_ACCOUNT_DATA' : 'GOOGLE_INVALID_TOKEN');
    return answered;
  }
}

const webFlow = codeFlow({
  portal: 'google',
  needs: ['client_ids', 'client_secret'],
  authorizeUrl: () => 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: () => 'https://oauth2.googleapis.com/token',
  scope: () => 'openid profile email',
  clientId: (settings) => listOf(settings, 'client_ids')[0]!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  issuer: () => 'https://accounts.google.com',
  identify: verifyLikeGame(verifyGoogle, 'id_token', 'id_token'),
  refusals: { ...DEFAULT_ERRORS, unreachable: 'GOOGLE_UNABLE_TO_GET_ACCOUNT_DATA' },
});

export const google: PortalDescription = {
  token: { verify: verifyGoogle, needs: ['auth_code'], instead: 'id_token', keysUrl: () => KEYS },
  web: webFlow,
};
