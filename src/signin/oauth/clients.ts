import { GAME_DELETED, requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { revokeServiceTokens, revokeTokens, revokeTokensOfSecret } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { requireClientName } from './naming.ts';
import { requireRedirectUris, requireRoomForRedirectUris } from './redirects.ts';
import * as store from './store.ts';

/** RFC 8628. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const GRANTS = ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT] as const;
export type Grant = (typeof GRANTS)[number];

export interface NewClient {
  readonly gameId: number;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grants: readonly Grant[];
  readonly requiresPkce?: boolean;
  readonly standard?: boolean;
}

export interface IssuedClient {
  readonly client_id: number;
  readonly client_secret: string;
}

/** Registers a client of a game and returns its secret, which is not shown again. */
export async function addClient(app: App, transaction: Transaction, client: NewClient): Promise<IssuedClient> {
  const { gameId, name, redirectUris, grants } = client;
  requireRedirectUris(redirectUris);
  requireUsable(client);
  await lockGame(transaction, gameId);
  await requireRoomForRedirectUris(transaction, gameId, redirectUris, () => false);
  await requireClientName(app, transaction, { gameId, name, isShown: isShown(grants) });
  const client_secret = app.random.token();
  const client_id = await store.add(transaction.query, {
    game_id: gameId,
    name,
    secret_digest: app.secrets.digest(client_secret),
    redirect_uris: JSON.stringify([...new Set(redirectUris)]),
    grants: GRANTS.filter((grant) => grants.includes(grant)).join(' '),
    date_added: app.clock.now(),
    date_revoked: null,
    requires_pkce: client.requiresPkce ? 1 : 0,
    standard: client.standard ? 1 : 0,
  });
  return { client_id, client_secret };
}

/** The code grant needs a redirect URI, and refresh tokens come only with a code. */
function requireUsable({ grants, redirectUris }: Pick<NewClient, 'grants' | 'redirectUris'>): void {
  const lacksAddress = grants.includes('authorization_code') && redirectUris.length === 0;
  const lacksCode = grants.includes('refresh_token') && !grants.includes('authorization_code');
  if (grants.length === 0 || lacksAddress || lacksCode) throw new ApiError('OAUTH_CLIENT_DATA_NOT_VALID');
}

/** Serialises changes of the game and its clients. */
async function lockGame(transaction: Transaction, gameId: number): Promise<void> {
  const game = await store.lockGame(transaction, gameId);
  if (game?.status === GAME_DELETED) throw new ApiError('GAME_DELETED');
}

/** Whether users see the client on a consent page. Backend clients have none. */
const isShown = (grants: readonly Grant[]): boolean => grants.some((grant) => grant !== 'client_credentials');

export interface Client {
  readonly id: number;
  readonly gameId: number;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grants: readonly Grant[];
  readonly requiresPkce: boolean;
  /** Whether it may omit parameters that the specification requires beyond RFC 6749. */
  readonly standard: boolean;
  readonly dateAdded: number;
  /** Changes when a secret ends at once. */
  readonly epoch: number;
  /** Until then the secret before the current one is valid, too; 0 if there was none. */
  readonly datePreviousSecretEnds: number;
}

const toClient = (row: store.ClientRow): Client => ({
  id: row.id,
  gameId: row.game_id,
  name: row.name,
  redirectUris: JSON.parse(row.redirect_uris),
  grants: row.grants.split(' ') as Grant[],
  requiresPkce: row.requires_pkce === 1,
  standard: row.standard === 1,
  dateAdded: row.date_added,
  epoch: row.epoch,
  datePreviousSecretEnds: row.date_previous_ends,
});

export async function findClient(query: Query, id: number): Promise<Client | undefined> {
  const row = await store.clientById(query, id);
  return row && toClient(row);
}

export const gameOfClient = async (app: App, id: number): Promise<number | undefined> =>
  (await findClient(app.db.query, id))?.gameId;

/** A digest of the usual length that no secret has. */
const NO_DIGEST = '-'.repeat(43);

/** Returns the client if the secret matches. An unknown client takes as long as a wrong secret. */
export async function authenticateClient(app: App, id: number, secret: string): Promise<Client | undefined> {
  const row = await store.clientById(app.db.query, id);
  const isCurrent = app.secrets.isDigestOf(row?.secret_digest ?? NO_DIGEST, secret);
  const previous = row && row.date_previous_ends > app.clock.now() ? row.previous_digest : NO_DIGEST;
  const isPrevious = app.secrets.isDigestOf(previous, secret);
  return (isCurrent || isPrevious) && row ? toClient(row) : undefined;
}

/** A client on a device, which cannot keep a secret (RFC 8628, section 5.6). */
export async function requireDeviceClient(app: App, id: number): Promise<Client> {
  const client = await findClient(app.db.query, id);
  if (!client) throw new ApiError('OAUTH_INVALID_CLIENT', { fields: [{ field: 'client_id', rule: 'invalid' }] });
  if (!client.grants.includes(DEVICE_GRANT)) throw new ApiError('OAUTH_UNAUTHORIZED_CLIENT');
  return client;
}

export async function listClients(app: App, caller: Caller, gameId: number): Promise<Client[]> {
  await requireGameAdministrator(app.db, caller, gameId);
  return (await store.clientsOf(app.db.query, gameId)).map(toClient);
}

export const registerClient = (app: App, caller: UserCaller, client: NewClient): Promise<IssuedClient> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, client.gameId);
    const issued = await registerAudited(app, transaction, caller, client);
    transaction.made?.(issued.client_id);
    return issued;
  });

/** The caller has checked the permission. */
export async function registerAudited(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  client: NewClient,
): Promise<IssuedClient> {
  const issued = await addClient(app, transaction, client);
  const data = { client: issued.client_id, grants: client.grants };
  await auditGame(app, transaction, caller, client.gameId, { action: 'clients-add', data });
  return issued;
}

async function requireClientOf(transaction: Transaction, caller: Caller, gameId: number, id: number): Promise<Client> {
  await requireGameAdministrator(transaction, caller, gameId);
  const client = await store.clientById(transaction.query, id);
  if (client?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
  return toClient(client);
}

export type ClientChanges = Partial<Pick<NewClient, 'name' | 'redirectUris' | 'requiresPkce' | 'standard'>>;

export const editClient = (
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  changes: ClientChanges,
): Promise<Client> =>
  app.db.write(async (transaction) => {
    const client = await requireClientOf(transaction, caller, gameId, id);
    const { name, redirectUris, requiresPkce, standard } = changes;
    await lockGame(transaction, gameId);
    if (redirectUris) {
      requireRedirectUris(redirectUris);
      requireUsable({ grants: client.grants, redirectUris });
      await requireRoomForRedirectUris(transaction, gameId, redirectUris, (other) => other.id === id);
    }
    const isRenamed = name !== undefined && name !== client.name;
    if (isRenamed) await requireClientName(app, transaction, { gameId, name, isShown: isShown(client.grants) });
    const edited: Client = {
      ...client,
      name: name ?? client.name,
      redirectUris: redirectUris ? [...new Set(redirectUris)] : client.redirectUris,
      requiresPkce: requiresPkce ?? client.requiresPkce,
      standard: standard ?? client.standard,
    };
    await store.editClient(transaction.query, id, {
      name: edited.name,
      redirect_uris: JSON.stringify(edited.redirectUris),
      requires_pkce: edited.requiresPkce ? 1 : 0,
      standard: edited.standard ? 1 : 0,
    });
    const data = { client: id, changed: Object.keys(changes) };
    await auditGame(app, transaction, caller, gameId, { action: 'clients-edit', data });
    return edited;
  });

/** A week: a secret that is stolen must not stay valid for long. */
export const OVERLAP_MAX_SECONDS = 7 * 86_400;

/**
 * Without an overlap the old secret and all access tokens issued with it end at once, because they may be stolen. Grants
 * stay, so the client gets new tokens with its refresh tokens and the new secret. With one, both secrets are valid until
 * it ends, so that servers are updated without an outage.
 */
export const rotateClientSecret = (
  app: App,
  caller: UserCaller,
  gameId: number,
  { id, overlapSeconds }: { readonly id: number; readonly overlapSeconds: number },
): Promise<IssuedClient> =>
  app.db.write(async (transaction) => {
    await requireClientOf(transaction, caller, gameId, id);
    await lockGame(transaction, gameId);
    const client_secret = app.random.token();
    const digest = app.secrets.digest(client_secret);
    if (overlapSeconds > 0) {
      await store.addSecret(transaction.query, id, digest, app.clock.now() + overlapSeconds);
    } else {
      await store.setSecret(transaction.query, id, digest);
      await revokeTokensOfSecret(app, transaction, id);
    }
    const data = { client: id, overlap: overlapSeconds };
    await auditGame(app, transaction, caller, gameId, { action: 'clients-rotate-secret', data });
    return { client_id: id, client_secret };
  });

/** Replaces the redirect URIs of every client of the game that signs users in. */
export const setRedirectUris = (app: App, caller: UserCaller, gameId: number, uris: readonly string[]): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await lockGame(transaction, gameId);
    const clients = (await store.clientsOf(transaction.query, gameId)).map(toClient);
    const signingIn = clients.filter(({ grants }) => grants.includes('authorization_code'));
    if (signingIn.length === 0)
      throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'redirect_uris', rule: 'no_oauth_client' }] });
    const isReplaced = (other: store.ClientRow) => signingIn.some(({ id }) => id === other.id);
    await requireRoomForRedirectUris(transaction, gameId, uris, isReplaced);
    const redirect_uris = JSON.stringify([...new Set(uris)]);
    for (const { id } of signingIn) await store.setRedirectUris(transaction.query, id, redirect_uris);
    await auditGame(app, transaction, caller, gameId, { action: 'clients-redirect-uris' });
  });

/** Removes a client and revokes all of its tokens. */
export const removeClient = (app: App, caller: UserCaller, gameId: number, id: number): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireClientOf(transaction, caller, gameId, id);
    await store.removeClient(transaction.query, id, app.clock.now());
    await store.revokeGrants(transaction.query, 'client_id', id, app.clock.now());
    await revokeTokens(app, transaction, { clientId: id });
    await revokeServiceTokens(app, transaction, { clientId: id });
    await auditGame(app, transaction, caller, gameId, { action: 'clients-remove', data: { client: id } });
  });
