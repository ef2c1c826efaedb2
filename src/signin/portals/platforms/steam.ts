import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, objectOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';
import { SKEW_SECONDS } from '../jwt.ts';
import { readSteamTicket, type SteamTicket, TicketError } from './tickets.ts';

const SUMMARIES = 'https://api.steampowered.com/ISteamUser/GetPlayerSummaries/v2/';
/** Tickets can be kept by whoever sees them; an old one proves little. */
export const TICKET_SECONDS = 86_400;

/** Steam: the encrypted app ticket, made with the game's key. */
export async function verifySteam(asking: Asking): Promise<Identity> {
  const key = textOf(asking.settings, 'ticket_key');
  if (!key) throw new ApiError('STEAM_NO_SECRET_TICKET');
  const ticket = readTicket(asking.credentials.appdata ?? '', key);
  const now = asking.app.clock.now();
  const isCurrent =
    ticket.dateIssued <= now + SKEW_SECONDS &&
    ticket.dateIssued > now - TICKET_SECONDS &&
    ticket.dateExpires > now - SKEW_SECONDS;
  if (!isCurrent || String(ticket.appId) !== textOf(asking.settings, 'app_id'))
    throw new ApiError('STEAM_APP_TICKET_INVALID');
  const shown = await summaryOf(asking, ticket.steamId);
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

/** The ticket tells no name. Games that have a key for Steam's Web API get it there. */
export async function summaryOf(
  { app, settings }: Asking,
  steamId: string,
): Promise<{ displayName: string; avatar: string }> {
  const webKey = textOf(settings, 'web_api_key');
  if (!webKey) return { displayName: '', avatar: '' };
  const query = new URLSearchParams({ key: webKey, steamids: steamId });
  const url = `${addressOf(app, 'steam', SUMMARIES)}?${query}`;
  const { ok, body } = await askPlatform(app, url, {}, 'STEAM_UNABLE_TO_GET_ACCOUNT_DATA');
  const { players } = objectOf(body['response']);
  const player = objectOf(Array.isArray(players) ? players[0] : undefined);
  if (!ok || player['steamid'] !== steamId) throw new ApiError('STEAM_UNABLE_TO_GET_ACCOUNT_DATA');
  return { displayName: stringOf(player['personaname']), avatar: stringOf(player['avatarfull']) };
}
