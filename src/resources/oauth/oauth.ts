import type { App } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import * as store from './store.ts';

export const GRANTS = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
export type Grant = (typeof GRANTS)[number];

export const REDIRECT_URIS_MAX = 20;
const URI_CHARACTERS_MAX = 500;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** RFC 9700, section 2.1: a code may travel over https, or stay on the person's own machine; a fragment is never sent on. */
export function isRedirectUri(text: string): boolean {
  if (text.length > URI_CHARACTERS_MAX || text.includes('#') || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname));
}

export interface NewClient {
  readonly gameId: number;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grants: readonly Grant[];
}

export interface IssuedClient {
  readonly client_id: number;
  readonly client_secret: string;
}

/** Registers a client of a game and returns its secret, for the only time. */
export async function addClient(app: App, { query }: Transaction, client: NewClient): Promise<IssuedClient> {
  const { redirectUris, grants } = client;
  if (redirectUris.length > REDIRECT_URIS_MAX)
    refuse({ field: 'redirect_uris', rule: 'array_max', values: { max: REDIRECT_URIS_MAX } });
  if (!redirectUris.every(isRedirectUri)) refuse({ field: 'redirect_uris', rule: 'url' });
  // A code needs an address to be sent to, and refresh tokens come with a code alone.
  if (grants.includes('authorization_code') && redirectUris.length === 0)
    refuse({ field: 'redirect_uris', rule: 'required' });
  if (grants.length === 0 || (grants.includes('refresh_token') && !grants.includes('authorization_code')))
    refuse({ field: 'grants', rule: 'invalid' });
  const client_secret = app.random.token();
  const client_id = await store.add(query, {
    game_id: client.gameId,
    name: client.name,
    secret_digest: app.secrets.digest(client_secret),
    redirect_uris: JSON.stringify([...new Set(redirectUris)]),
    grants: GRANTS.filter((grant) => grants.includes(grant)).join(' '),
    date_added: app.clock.now(),
    date_revoked: null,
  });
  return { client_id, client_secret };
}

function refuse(problem: NonNullable<ApiError['fields']>[number]): never {
  throw new ApiError('VALIDATION_GENERIC', { fields: [problem] });
}
