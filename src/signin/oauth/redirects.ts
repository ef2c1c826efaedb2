import { REDIRECT_URIS_MAX } from '../../catalogue/games/redirect-uris.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

const URI_CHARACTERS_MAX = 500;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/**
 * The characters of RFC 3986 without `#`, since fragments are not sent to servers. Programs disagree about any other
 * character.
 */
const SHAPE = /^https?:\/\/(?=[\w[])(?:[\w.~:/?[\]@!$&'()*+,;=-]|%[0-9a-f]{2})+$/i;

/** RFC 9700, section 2.1: a code may be sent over https, or to the user’s own machine. */
export function isRedirectUri(text: string): boolean {
  if (text.length > URI_CHARACTERS_MAX || !SHAPE.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
}

/** Refuses a list that is too long, and every entry that is not a valid redirect URI. */
export function requireRedirectUris(uris: readonly string[]): void {
  if (uris.length > REDIRECT_URIS_MAX) refuseTooMany();
  const fields = uris.flatMap((uri, index) =>
    isRedirectUri(uri) ? [] : [{ field: `redirect_uris.${index}`, rule: 'redirect_uri' as const }],
  );
  if (fields.length > 0) throw new ApiError('VALIDATION_GENERIC', { fields });
}

/** Refuses addresses that exceed the maximum of the game’s clients together. The caller has locked the game. */
export async function requireRoomForRedirectUris(
  transaction: Transaction,
  gameId: number,
  uris: readonly string[],
  isReplaced: (client: store.ClientRow) => boolean,
): Promise<void> {
  const others = (await store.clientsOf(transaction.query, gameId)).filter((client) => !isReplaced(client));
  const all = new Set([...uris, ...others.flatMap((client): string[] => JSON.parse(client.redirect_uris))]);
  if (uris.length > 0 && all.size > REDIRECT_URIS_MAX) refuseTooMany();
}

function refuseTooMany(): never {
  const values = { max: REDIRECT_URIS_MAX };
  throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'redirect_uris', rule: 'redirect_uris_max', values }] });
}
