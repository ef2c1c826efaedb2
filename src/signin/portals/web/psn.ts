import { ApiError } from '../../../platform/errors/catalogue.ts';
import { stringOf } from '../asking.ts';
import { type Asking, type Identity, type PortalSettings, textOf } from '../identity.ts';
import { PSN_SCOPE, psnIdentityOf, psnIssuer } from '../platforms/psn.ts';
import { codeFlow, type TokenAnswer, USUAL } from './code-flow.ts';

const SONY = 'https://ca.account.sony.com/api/authz/v3/oauth';

/** The client for browsers, which may be the game's own. */
const clientId = (settings: PortalSettings | undefined): string =>
  (textOf(settings, 'web_client_id') ?? textOf(settings, 'client_id'))!;

/** PlayStation in browsers: the same people as in games, and the same of them stay out. */
export const psnFlow = codeFlow({
  portal: 'psn',
  needs: ['client_id', 'client_secret'],
  authorizeUrl: (settings) => textOf(settings, 'authorize_url') ?? `${SONY}/authorize`,
  tokenUrl: (settings) => textOf(settings, 'web_token_url') ?? `${SONY}/token`,
  scope: () => PSN_SCOPE,
  alsoRedeeming: { scope: PSN_SCOPE, token_format: 'jwt' },
  clientId,
  clientSecret: (settings) =>
    textOf(settings, textOf(settings, 'web_client_id') ? 'web_client_secret' : 'client_secret')!,
  authentication: () => 'basic',
  identify: whoIs,
  refusals: { ...USUAL, unreachable: 'PSN_UNABLE_TO_GET_ACCOUNT_DATA', token: 'PSN_INVALID_TOKEN' },
});

async function whoIs(asking: Asking, { id_token }: TokenAnswer): Promise<Identity> {
  const token = stringOf(id_token);
  if (!token) throw new ApiError('PSN_UNABLE_TO_GET_ACCOUNT_DATA');
  const { settings } = asking;
  const ofGames = psnIssuer(settings);
  return psnIdentityOf(asking, token, {
    clientId: clientId(settings),
    issuer: textOf(settings, 'web_issuer') ?? ofGames.issuer,
    keysUrl: textOf(settings, 'web_keys_url') ?? ofGames.keysUrl,
  });
}
