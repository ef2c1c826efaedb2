import { createPrivateKey } from 'node:crypto';
import { compactDecrypt, errors } from 'jose';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { addressOf, idTextOf, objectOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS, type TokenAnswer } from '../web/code-flow.ts';
import { onceUntil } from './claims.ts';

/** The privilege to see user-generated content. */
const USER_GENERATED_CONTENT = '247';
const SENT = /^(?:XBL3\.0 x=[^;]*;)?([\w.-]+)$/;

const keysUrlOf = (settings: PortalSettings | undefined): string =>
  textOf(settings, 'keys_url') ?? 'https://xsts.auth.xboxlive.com/xsts/keys';

/** Xbox: an XSTS token, signed by Xbox and encrypted for the relying party of the game. */
async function verifyXbox(verification: Verification): Promise<Identity> {
  const { app, settings } = verification;
  const relyingParty = textOf(settings, 'relying_party');
  const privateKey = textOf(settings, 'private_key');
  if (!relyingParty || !privateKey) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const token = await decrypt(verification.credentials.xbox_token ?? '', privateKey);
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'xboxlive', keysUrlOf(settings)),
    algorithms: ['RS256'],
    issuers: ['xsts.auth.xboxlive.com'],
    audiences: [relyingParty],
    refusals: {
      invalid: 'XBOX_LIVE_INVALID_TOKEN',
      early: 'XBOX_LIVE_INVALID_TOKEN',
      late: 'XBOX_LIVE_TOKEN_EXPIRED',
      keys: 'XBOX_LIVE_UNABLE_TO_GET_JWK_SIGNATURE',
    },
  });
  const { xui } = claims;
  // A console can have several signed-in users; a token for more than one does not identify the caller.
  const person = objectOf(Array.isArray(xui) && xui.length === 1 ? xui[0] : undefined);
  const id = idTextOf(person['xid']);
  if (!id) throw new ApiError('XBOX_LIVE_INVALID_TOKEN');
  if (person['agg'] === 'Child') throw new ApiError('XBOX_LIVE_CHILD_PROFILE_NOT_PERMITTED');
  if (!stringOf(person['prv']).split(' ').includes(USER_GENERATED_CONTENT))
    throw new ApiError('XBOX_LIVE_UGC_INTERACTION_NOT_PERMITTED');
  return {
    portal: 'xboxlive',
    id,
    displayName: stringOf(person['gtg']),
    avatar: '',
    ticket: onceUntil(token, claims),
  };
}

async function decrypt(sent: string, privateKey: string): Promise<string> {
  const [, encrypted = ''] = SENT.exec(sent) ?? [];
  try {
    const { plaintext } = await compactDecrypt(encrypted, createPrivateKey(privateKey), {
      keyManagementAlgorithms: ['RSA-OAEP', 'RSA-OAEP-256'],
      contentEncryptionAlgorithms: ['A128CBC-HS256', 'A256CBC-HS512', 'A128GCM', 'A256GCM'],
    });
    return Buffer.from(plaintext).toString('utf8');
  } catch (cause) {
    if (cause instanceof errors.JOSEError) throw new ApiError('XBOX_LIVE_INVALID_TOKEN', { cause });
    throw cause;
  }
}

const USER_TOKENS = 'https://user.auth.xboxlive.com/user/authenticate';
const XSTS_TOKENS = 'https://xsts.auth.xboxlive.com/xsts/authorize';
/** The `XErr` of a child’s account that belongs to no family. */
const CHILD = 2_148_916_238;

/** Exchanges a Microsoft account’s token for an Xbox token for the game, which is verified like a game’s own. */
const xboxFlow = codeFlow({
  portal: 'xboxlive',
  needs: ['client_id', 'client_secret'],
  authorizeUrl: () => 'https://login.live.com/oauth20_authorize.srf',
  tokenUrl: () => 'https://login.live.com/oauth20_token.srf',
  scope: () => 'XboxLive.signin',
  clientId: (settings) => textOf(settings, 'client_id')!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  identify: whoIs,
  refusals: { ...DEFAULT_ERRORS, unreachable: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS' },
});

async function whoIs(verification: Verification, { access_token }: TokenAnswer): Promise<Identity> {
  const person = await buy(verification, USER_TOKENS, 'http://auth.xboxlive.com', {
    AuthMethod: 'RPS',
    SiteName: 'user.auth.xboxlive.com',
    RpsTicket: `d=${stringOf(access_token)}`,
  });
  const properties = { SandboxId: 'RETAIL', UserTokens: [person] };
  const token = await buy(verification, XSTS_TOKENS, textOf(verification.settings, 'relying_party')!, properties);
  return verifyXbox({ ...verification, credentials: { xbox_token: token } });
}

async function buy({ app }: Verification, url: string, relyingParty: string, properties: object): Promise<string> {
  const { ok, body } = await requestPlatform(
    app,
    addressOf(app, 'xboxlive', url),
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'x-xbl-contract-version': '1' },
      body: JSON.stringify({ RelyingParty: relyingParty, TokenType: 'JWT', Properties: properties }),
    },
    'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  );
  if (body['XErr'] === CHILD) throw new ApiError('XBOX_LIVE_CHILD_PROFILE_NOT_PERMITTED');
  const token = stringOf(body['Token']);
  if (!ok || !token) throw new ApiError('XBOX_LIVE_INVALID_TOKEN');
  return token;
}

export const xbox: PortalDescription = {
  token: { verify: verifyXbox, needs: ['xbox_token'], keysUrl: keysUrlOf },
  web: xboxFlow,
};
