import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';
import { verifyXbox } from '../platforms/xbox.ts';
import { codeFlow, type TokenAnswer, USUAL } from './code-flow.ts';

const USER_TOKENS = 'https://user.auth.xboxlive.com/user/authenticate';
const XSTS_TOKENS = 'https://xsts.auth.xboxlive.com/xsts/authorize';
/** `XErr` of an account that belongs to no family and is a child's. */
const CHILD = 2_148_916_238;

/** A Microsoft account buys a token of Xbox for the game, which is then shown as the game itself would show it. */
export const xboxFlow = codeFlow({
  portal: 'xboxlive',
  needs: ['client_id', 'client_secret'],
  authorizeUrl: () => 'https://login.live.com/oauth20_authorize.srf',
  tokenUrl: () => 'https://login.live.com/oauth20_token.srf',
  scope: () => 'XboxLive.signin',
  clientId: (settings) => textOf(settings, 'client_id')!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  identify: whoIs,
  refusals: { ...USUAL, unreachable: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS' },
});

async function whoIs(asking: Asking, { access_token }: TokenAnswer): Promise<Identity> {
  const person = await buy(asking, USER_TOKENS, 'http://auth.xboxlive.com', {
    AuthMethod: 'RPS',
    SiteName: 'user.auth.xboxlive.com',
    RpsTicket: `d=${stringOf(access_token)}`,
  });
  const properties = { SandboxId: 'RETAIL', UserTokens: [person] };
  const token = await buy(asking, XSTS_TOKENS, textOf(asking.settings, 'relying_party')!, properties);
  return verifyXbox({ ...asking, credentials: { xbox_token: token } });
}

async function buy({ app }: Asking, url: string, relyingParty: string, properties: object): Promise<string> {
  const { ok, body } = await askPlatform(
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
