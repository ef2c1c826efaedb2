import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, textOf, type Verification } from '../identity.ts';
import { SKEW_SECONDS } from '../jwt.ts';
import { addressOf, objectOf, requestPlatform, requestText, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { DEFAULT_ERRORS, isConfigured } from '../web/code-flow.ts';
import type { Arriving, Leaving, WebFlow } from '../web/flow.ts';
import { readSteamTicket, type SteamTicket, TicketError } from './tickets.ts';

const SUMMARIES = 'https://api.steampowered.com/ISteamUser/GetPlayerSummaries/v2/';
/** Tickets can leak, so an old one is refused. */
export const TICKET_SECONDS = 86_400;

/** Steam: the encrypted app ticket, made with the game’s key. */
async function verifySteam(verification: Verification): Promise<Identity> {
  const key = textOf(verification.settings, 'ticket_key');
  if (!key) throw new ApiError('STEAM_NO_SECRET_TICKET');
  const ticket = readTicket(verification.credentials.appdata ?? '', key);
  const now = verification.app.clock.now();
  const isCurrent =
    ticket.dateIssued <= now + SKEW_SECONDS &&
    ticket.dateIssued > now - TICKET_SECONDS &&
    ticket.dateExpires > now - SKEW_SECONDS;
  if (!isCurrent || String(ticket.appId) !== textOf(verification.settings, 'app_id'))
    throw new ApiError('STEAM_APP_TICKET_INVALID');
  const shown = await summaryOf(verification, ticket.steamId);
  const until = ticket.dateIssued + TICKET_SECONDS;
  return { portal: 'steam', id: ticket.steamId, ...shown, ticket: { text: ticket.fingerprint, until } };
}

function readTicket(appdata: string, key: string): SteamTicket {
  try {
    return readSteamTicket(Buffer.from(appdata, 'base64'), Buffer.from(key, 'hex'));
  } catch (cause) {
    if (cause instanceof TicketError) throw new ApiError('STEAM_APP_TICKET_INVALID', { cause });
    throw cause;
  }
}

/** The ticket contains no name. Games with a key for Steam’s Web API get it there. */
async function summaryOf(
  { app, settings }: Verification,
  steamId: string,
): Promise<{ displayName: string; avatar: string }> {
  const webKey = textOf(settings, 'web_api_key');
  if (!webKey) return { displayName: '', avatar: '' };
  const query = new URLSearchParams({ key: webKey, steamids: steamId });
  const url = `${addressOf(app, 'steam', SUMMARIES)}?${query}`;
  const { ok, body } = await requestPlatform(app, url, {}, 'STEAM_UNABLE_TO_GET_ACCOUNT_DATA');
  const { players } = objectOf(body['response']);
  const player = objectOf(Array.isArray(players) ? players[0] : undefined);
  if (!ok || player['steamid'] !== steamId) throw new ApiError('STEAM_UNABLE_TO_GET_ACCOUNT_DATA');
  return { displayName: stringOf(player['personaname']), avatar: stringOf(player['avatarfull']) };
}

const ENDPOINT = 'https://steamcommunity.com/openid/login';
const NAMESPACE = 'http://specs.openid.net/auth/2.0';
const ANYONE = 'http://specs.openid.net/auth/2.0/identifier_select';
const CLAIMED = /^https:\/\/steamcommunity\.com\/openid\/id\/(\d{17,20})$/;
/** The fields that must be signed (OpenID Authentication 2.0, section 10.1). */
const SIGNED = ['op_endpoint', 'claimed_id', 'identity', 'return_to', 'response_nonce', 'assoc_handle'];
const NONCE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/;
const ANSWER_SECONDS = 600;

/** OpenID has no `state`, so the return address carries it; the signature covers it. */
const returnTo = ({ callback, state }: Leaving): string => `${callback}?${new URLSearchParams({ state })}`;

/** Steam on the web uses OpenID 2.0 without a secret: Steam itself confirms each answer. */
const steamOpenid: WebFlow = {
  isSetUp: isConfigured(['app_id']),
  leave: (leaving) => {
    const address = new URL(ENDPOINT);
    const parameters = {
      ns: NAMESPACE,
      mode: 'checkid_setup',
      return_to: returnTo(leaving),
      realm: leaving.app.addresses.site,
      identity: ANYONE,
      claimed_id: ANYONE,
    };
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(`openid.${name}`, value);
    return address.href;
  },
  arrive: async (arriving) => {
    const steamId = requireClaim(arriving);
    await confirm(arriving);
    const { app, gameId, settings } = arriving;
    const shown = await summaryOf({ app, gameId, settings, credentials: {} }, steamId);
    return { portal: 'steam', id: steamId, ...shown } satisfies Identity;
  },
  refusals: DEFAULT_ERRORS,
};

/** The signed answer must be for this site, this sign-in and the current time. */
function requireClaim(arriving: Arriving): string {
  const { query, app } = arriving;
  const said = (name: string) => query[`openid.${name}`] ?? '';
  const [, steamId] = CLAIMED.exec(said('claimed_id')) ?? [];
  const signed = said('signed').split(',');
  const [, made = ''] = NONCE.exec(said('response_nonce')) ?? [];
  const age = app.clock.now() - Date.parse(made) / 1_000;
  const isForUs =
    said('ns') === NAMESPACE &&
    said('mode') === 'id_res' &&
    said('op_endpoint') === ENDPOINT &&
    said('identity') === said('claimed_id') &&
    said('return_to') === returnTo(arriving) &&
    SIGNED.every((name) => signed.includes(name)) &&
    age > -SKEW_SECONDS &&
    age < ANSWER_SECONDS;
  if (!steamId || !isForUs) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  return steamId;
}

/** Section 11.4.2: only the server that made the answer can confirm it. */
async function confirm({ app, query }: Arriving): Promise<void> {
  const said = Object.entries(query).filter(([name]) => name.startsWith('openid.')) as [string, string][];
  const fields = { ...Object.fromEntries(said), 'openid.mode': 'check_authentication' };
  const url = addressOf(app, 'steam', ENDPOINT);
  const text = await requestText(app, url, fields, 'STEAM_UNABLE_TO_GET_ACCOUNT_DATA');
  const lines = text.split('\n').map((line) => line.trim());
  if (!lines.includes('is_valid:true') || !lines.includes(`ns:${NAMESPACE}`))
    throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
}

export const steam: PortalDescription = {
  token: { verify: verifySteam, needs: ['appdata'] },
  web: steamOpenid,
};
