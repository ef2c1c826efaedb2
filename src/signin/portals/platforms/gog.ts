import type { App } from '../../../platform/app.ts';
import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, textOf, type Verification } from '../identity.ts';
import { SKEW_SECONDS } from '../jwt.ts';
import { addressOf, idTextOf, objectOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { codeFlow, DEFAULT_ERRORS } from '../web/code-flow.ts';
import { TICKET_SECONDS } from './steam.ts';
import { type GogTicket, readGogTicket, TicketError } from './tickets.ts';

/** GOG Galaxy: the encrypted app ticket, made with the game’s key. */
async function verifyGog({ app, settings, credentials }: Verification): Promise<Identity> {
  const key = textOf(settings, 'ticket_key');
  if (!key) throw new ApiError('GOG_NO_SECRET_TICKET');
  const ticket = readTicket(credentials.appdata ?? '', key);
  const age = app.clock.now() - ticket.dateIssued;
  if (age < -SKEW_SECONDS || age >= TICKET_SECONDS || ticket.clientId !== textOf(settings, 'client_id'))
    throw new ApiError('GOG_APP_TICKET_INVALID');
  const identity = await gogIdentityOf(app, ticket.userId);
  return { ...identity, ticket: { text: ticket.fingerprint, until: ticket.dateIssued + TICKET_SECONDS } };
}

/** The public profile of a GOG user. */
async function gogIdentityOf(app: App, id: string): Promise<Identity> {
  const url = addressOf(app, 'gog', `https://users.gog.com/users/${id}`);
  const { ok, body } = await requestPlatform(app, url, {}, 'GOG_UNABLE_TO_GET_ACCOUNT_DATA');
  if (!ok || stringOf(body['id']) !== id) throw new ApiError('GOG_UNABLE_TO_GET_ACCOUNT_DATA');
  const avatar = stringOf(objectOf(body['avatar'])['medium']);
  return { portal: 'gog', id, displayName: stringOf(body['username']), avatar };
}

function readTicket(appdata: string, key: string): GogTicket {
  try {
    return readGogTicket(Buffer.from(appdata, 'base64'), Buffer.from(key, 'base64url'));
  } catch (cause) {
    if (cause instanceof TicketError) throw new ApiError('GOG_APP_TICKET_INVALID', { cause });
    throw cause;
  }
}

const webFlow = codeFlow({
  portal: 'gog',
  needs: ['client_id', 'client_secret'],
  authorizeUrl: () => 'https://auth.gog.com/auth',
  tokenUrl: () => 'https://auth.gog.com/token',
  scope: () => '',
  also: { layout: 'default' },
  clientId: (settings) => textOf(settings, 'client_id')!,
  clientSecret: (settings) => textOf(settings, 'client_secret')!,
  authentication: () => 'query',
  identify: (verification, answer) => {
    const id = idTextOf(answer['user_id']);
    if (!/^\d{1,20}$/.test(id)) throw new ApiError('GOG_UNABLE_TO_GET_ACCOUNT_DATA');
    return gogIdentityOf(verification.app, id);
  },
  refusals: { ...DEFAULT_ERRORS, unreachable: 'GOG_UNABLE_TO_GET_ACCOUNT_DATA' },
});

export const gog: PortalDescription = {
  token: { verify: verifyGog, needs: ['appdata'] },
  web: webFlow,
};
