import type { Caller } from '../../access/caller.ts';
import { revokeServiceTokens, revokeTokens, revokeTokensOfSecret } from '../../access/credentials.ts';
import type { App } from '../../context.ts';
import type { Query, Transaction } from '../../database/database.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { auditGame } from '../audit/audit.ts';
import { requireGame } from '../games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

/** RFC 8628. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const GRANTS = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT] as const;
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

export function requireRedirectUris(uris: readonly string[]): void {
  if (uris.length > REDIRECT_URIS_MAX)
    refuse({ field: 'redirect_uris', rule: 'array_max', values: { max: REDIRECT_URIS_MAX } });
  if (!uris.every(isRedirectUri)) throw new ApiError('OAUTH_CLIENT_DATA_NOT_VALID');
}

export interface NewClient {
  readonly gameId: number;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grants: readonly Grant[];
  readonly requiresPkce?: boolean;
}

export interface IssuedClient {
  readonly client_id: number;
  readonly client_secret: string;
}

/** Registers a client of a game and returns its secret, for the only time. */
export async function addClient(app: App, { query }: Transaction, client: NewClient): Promise<IssuedClient> {
  const { redirectUris, grants } = client;
  requireRedirectUris(redirectUris);
  // A code needs an address to be sent to, and refresh tokens come with a code alone.
  const lacksAddress = grants.includes('authorization_code') && redirectUris.length === 0;
  const lacksCode = grants.includes('refresh_token') && !grants.includes('authorization_code');
  if (grants.length === 0 || lacksAddress || lacksCode) throw new ApiError('OAUTH_CLIENT_DATA_NOT_VALID');
  const client_secret = app.random.token();
  const client_id = await store.add(query, {
    game_id: client.gameId,
    name: client.name,
    secret_digest: app.secrets.digest(client_secret),
    redirect_uris: JSON.stringify([...new Set(redirectUris)]),
    grants: GRANTS.filter((grant) => grants.includes(grant)).join(' '),
    date_added: app.clock.now(),
    date_revoked: null,
    requires_pkce: client.requiresPkce ? 1 : 0,
  });
  return { client_id, client_secret };
}

export interface Client {
  readonly id: number;
  readonly gameId: number;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grants: readonly Grant[];
  readonly requiresPkce: boolean;
  readonly dateAdded: number;
  /** Begins anew with every secret. */
  readonly epoch: number;
}

const toClient = (row: store.ClientRow): Client => ({
  id: row.id,
  gameId: row.game_id,
  name: row.name,
  redirectUris: JSON.parse(row.redirect_uris),
  grants: row.grants.split(' ') as Grant[],
  requiresPkce: row.requires_pkce === 1,
  dateAdded: row.date_added,
  epoch: row.epoch,
});

export async function findClient(query: Query, id: number): Promise<Client | undefined> {
  const row = await store.clientById(query, id);
  return row && toClient(row);
}

/** The game for which an application was registered. */
export const gameOfClient = async (app: App, id: number): Promise<number | undefined> =>
  (await findClient(app.db.query, id))?.gameId;

/** As long as any, and of nothing. */
const NO_DIGEST = '-'.repeat(43);

/** The client, if the secret is its own. An unknown client takes as long as a wrong secret. */
export async function authenticateClient(app: App, id: number, secret: string): Promise<Client> {
  const row = await store.clientById(app.db.query, id);
  const isRight = app.secrets.isDigestOf(row?.secret_digest ?? NO_DIGEST, secret);
  if (!isRight || !row) throw new ApiError('OAUTH_INVALID_CLIENT');
  return toClient(row);
}

/** A client on a device, which anyone can take apart: it has no secret that it could keep (RFC 8628, section 5.6). */
export async function requireDeviceClient(app: App, id: number): Promise<Client> {
  const client = await findClient(app.db.query, id);
  if (!client) throw new ApiError('OAUTH_INVALID_CLIENT');
  if (!client.grants.includes(DEVICE_GRANT)) throw new ApiError('OAUTH_UNAUTHORIZED_CLIENT');
  return client;
}

/** Only administrators of a game, and those who run the site, see and change its clients. */
async function requireAdministrator(reader: Pick<App['db'], 'first'>, caller: Caller, gameId: number): Promise<void> {
  await requireGame(reader, caller, gameId);
  // A client that someone let in must not make itself others.
  const isOwnToken = caller.kind === 'user' && caller.clientId === undefined;
  if (!isOwnToken || (await teamLevel(reader, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_ADMIN_PERMISSION');
}

export async function listClients(app: App, caller: Caller, gameId: number): Promise<Client[]> {
  await requireAdministrator(app.db, caller, gameId);
  return (await store.clientsOf(app.db.query, gameId)).map(toClient);
}

export const registerClient = (app: App, caller: Caller, client: NewClient): Promise<IssuedClient> =>
  app.db.write(async (transaction) => {
    await requireAdministrator(transaction, caller, client.gameId);
    return registerAudited(app, transaction, caller, client);
  });

/** The same for whoever asked before who may. */
export async function registerAudited(
  app: App,
  transaction: Transaction,
  caller: Caller,
  client: NewClient,
): Promise<IssuedClient> {
  const issued = await addClient(app, transaction, client);
  const data = { client: issued.client_id, grants: client.grants };
  await auditGame(app, transaction, caller, client.gameId, { action: 'clients-add', data });
  return issued;
}

async function requireClientOf(transaction: Transaction, caller: Caller, gameId: number, id: number): Promise<void> {
  await requireAdministrator(transaction, caller, gameId);
  const client = await store.clientById(transaction.query, id);
  if (client?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
}

/**
 * The old secret ends at once, and with it every access token that was given for it: whoever found it may have used it.
 * What people allowed the client stays, so that it gets new ones with its refresh tokens and the new secret.
 */
export const rotateClientSecret = (app: App, caller: Caller, gameId: number, id: number): Promise<IssuedClient> =>
  app.db.write(async (transaction) => {
    await requireClientOf(transaction, caller, gameId, id);
    const client_secret = app.random.token();
    await store.setSecret(transaction.query, id, app.secrets.digest(client_secret));
    await revokeTokensOfSecret(app, transaction, id);
    await auditGame(app, transaction, caller, gameId, { action: 'clients-rotate-secret', data: { client: id } });
    return { client_id: id, client_secret };
  });

/** Gives every client of the game that signs people in these addresses, in place of those it had. */
export const setRedirectUris = (app: App, caller: Caller, gameId: number, uris: readonly string[]): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireAdministrator(transaction, caller, gameId);
    const clients = (await store.clientsOf(transaction.query, gameId)).map(toClient);
    const signingIn = clients.filter(({ grants }) => grants.includes('authorization_code'));
    if (signingIn.length === 0) refuse({ field: 'redirect_uris', rule: 'no_oauth_client' });
    const redirect_uris = JSON.stringify([...new Set(uris)]);
    for (const { id } of signingIn) await store.setRedirectUris(transaction.query, id, redirect_uris);
    await auditGame(app, transaction, caller, gameId, { action: 'clients-redirect-uris' });
  });

/** A client that is removed takes every token with it. */
export const removeClient = (app: App, caller: Caller, gameId: number, id: number): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireClientOf(transaction, caller, gameId, id);
    await store.removeClient(transaction.query, id, app.clock.now());
    await store.revokeGrants(transaction.query, 'client_id', id, app.clock.now());
    await revokeTokens(app, transaction, { clientId: id });
    await revokeServiceTokens(app, transaction, { clientId: id });
    await auditGame(app, transaction, caller, gameId, { action: 'clients-remove', data: { client: id } });
  });

function refuse(problem: NonNullable<ApiError['fields']>[number]): never {
  throw new ApiError('VALIDATION_GENERIC', { fields: [problem] });
}
