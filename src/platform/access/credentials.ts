import { sql } from 'kysely';
import type { Environment } from '../config/addresses.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Database, Transaction } from '../database/database.ts';
import { removeInSteps, someOf } from '../database/removal.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { TokenScope } from './caller.ts';
import './tables.ts';

const DAY = 86_400;
/** One year of 365 days: the default and the maximum lifetime of a user's token. */
export const TOKEN_LIFETIME_SECONDS = 365 * DAY;
/** The prefix of sandbox keys, so that production recognises one without a lookup. */
const SANDBOX_MARK = '7e57';
const KEY_LENGTH = 32;

export interface Issuing {
  readonly environment: Environment;
  readonly secrets: Secrets;
  readonly random: Random;
  readonly clock: Clock;
}

export const isWellFormedKey = (key: string): boolean => key.length === KEY_LENGTH && /^[a-zA-Z0-9]+$/.test(key);
export const isSandboxKey = (key: string): boolean => key.startsWith(SANDBOX_MARK);

function newKey({ environment, random }: Issuing): string {
  if (environment === 'sandbox') return SANDBOX_MARK + random.hex(KEY_LENGTH - SANDBOX_MARK.length);
  const key = random.hex(KEY_LENGTH);
  return isSandboxKey(key) ? newKey({ environment, random } as Issuing) : key;
}

/** Issues the API key of a game or a user. The key is shown only this once. */
export async function issueKey(
  app: Issuing,
  { query }: Transaction,
  owner: { gameId: number } | { userId: number },
): Promise<string> {
  const key = newKey(app);
  await query
    .insertInto('api_keys')
    .values({
      digest: app.secrets.digest(key),
      game_id: 'gameId' in owner ? owner.gameId : null,
      user_id: 'userId' in owner ? owner.userId : null,
      date_added: app.clock.now(),
      date_revoked: null,
    })
    .execute();
  return key;
}

export interface NewToken {
  readonly userId: number;
  readonly gameId?: number | undefined;
  readonly scopes?: readonly TokenScope[];
  readonly dateExpires?: number | undefined;
  readonly clientId?: number | undefined;
  readonly grantId?: number | undefined;
  readonly name?: string | undefined;
  /** The epoch of the credential that it is exchanged for; defaults to the user's current epoch. */
  readonly epoch?: number | undefined;
  /** The epoch of the client, if the client authenticated with its secret. */
  readonly clientEpoch?: number | undefined;
  readonly allGames?: boolean;
  readonly contentOnly?: boolean;
  /** The default and maximum lifetime. */
  readonly lifetimeSeconds?: number;
  /** The token itself, if it is derived instead of random. */
  readonly secret?: string;
}

export interface IssuedToken {
  readonly access_token: string;
  readonly date_expires: number;
}

/** An expiry in the past or beyond the maximum lifetime is ignored. */
function endOf(now: number, lifetimeSeconds: number, wished: number | undefined): number {
  const latest = now + lifetimeSeconds;
  return wished !== undefined && wished > now && wished <= latest ? wished : latest;
}

export async function issueToken(app: Issuing, { query }: Transaction, token: NewToken): Promise<IssuedToken> {
  const now = app.clock.now();
  const dateExpires = endOf(now, token.lifetimeSeconds ?? TOKEN_LIFETIME_SECONDS, token.dateExpires);
  const secret = token.secret ?? app.random.token();
  await query
    .insertInto('access_tokens')
    .values({
      digest: app.secrets.digest(secret),
      user_id: token.userId,
      game_id: token.gameId ?? null,
      scopes: (token.scopes ?? ['read', 'write']).join(' '),
      date_added: now,
      date_expires: dateExpires,
      date_revoked: null,
      client_id: token.clientId ?? null,
      grant_id: token.grantId ?? null,
      name: token.name ?? null,
      epoch: token.epoch ?? epochOf(token.userId),
      client_epoch: token.clientEpoch ?? null,
      all_games: token.allGames ? 1 : 0,
      content_only: token.contentOnly ? 1 : 0,
    })
    .execute();
  return { access_token: secret, date_expires: dateExpires };
}

/** Read in the inserting statement, so that a concurrent revocation comes either before it or after it. */
const epochOf = (userId: number) =>
  sql<number>`coalesce((select e.epoch from access_epochs e where e.user_id = ${userId}), 0)`;

export interface NewServiceToken {
  readonly clientId: number;
  readonly gameId: number;
  readonly scopes: readonly TokenScope[];
  readonly lifetimeSeconds: number;
  readonly dateExpires?: number | undefined;
  /** The epoch of the client whose secret was verified; defaults to the current one. */
  readonly clientEpoch?: number | undefined;
}

/** Issues a token for the backend of a game. */
export async function issueServiceToken(
  app: Issuing,
  { query }: Transaction,
  token: NewServiceToken,
): Promise<IssuedToken> {
  const now = app.clock.now();
  const dateExpires = endOf(now, token.lifetimeSeconds, token.dateExpires);
  const secret = app.random.token();
  await query
    .insertInto('service_tokens')
    .values({
      digest: app.secrets.digest(secret),
      client_id: token.clientId,
      game_id: token.gameId,
      scopes: token.scopes.join(' '),
      date_added: now,
      date_expires: dateExpires,
      date_revoked: null,
      client_epoch:
        token.clientEpoch ?? sql<number>`(select c.epoch from oauth_clients c where c.id = ${token.clientId})`,
    })
    .execute();
  return { access_token: secret, date_expires: dateExpires };
}

/** Revokes tokens immediately: the scope `access` makes every process reload its callers. */
export async function revokeTokens(
  app: Issuing,
  transaction: Transaction,
  which: { tokenId: number } | { userId: number } | { grantId: number } | { clientId: number },
): Promise<void> {
  if ('userId' in which) await beginEpoch(transaction, which.userId);
  const [[name, id]] = Object.entries(which) as [[keyof typeof COLUMNS, number]];
  await transaction.query
    .updateTable('access_tokens')
    .set({ date_revoked: app.clock.now() })
    .where(COLUMNS[name], '=', id)
    .where('date_revoked', 'is', null)
    .execute();
  accessChanged(transaction);
}

/** Also revokes tokens that concurrent transactions are issuing and that are not visible yet. */
const beginEpoch = ({ query }: Transaction, user_id: number) =>
  query
    .insertInto('access_epochs')
    .values({ user_id, epoch: 1 })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ epoch: sql`access_epochs.epoch + 1` }))
    .execute();

/** Revokes the tokens that needed the client secret. Tokens of devices need none and stay valid. */
export async function revokeTokensOfSecret(app: Issuing, transaction: Transaction, clientId: number): Promise<void> {
  await transaction.query
    .updateTable('access_tokens')
    .set({ date_revoked: app.clock.now() })
    .where('client_id', '=', clientId)
    .where('client_epoch', 'is not', null)
    .where('date_revoked', 'is', null)
    .execute();
  await revokeServiceTokens(app, transaction, { clientId });
}

const COLUMNS = { tokenId: 'id', userId: 'user_id', grantId: 'grant_id', clientId: 'client_id' } as const;

export async function revokeServiceTokens(
  app: Issuing,
  transaction: Transaction,
  which: { tokenId: number } | { clientId: number },
): Promise<void> {
  await transaction.query
    .updateTable('service_tokens')
    .set({ date_revoked: app.clock.now() })
    .where('tokenId' in which ? 'id' : 'client_id', '=', 'tokenId' in which ? which.tokenId : which.clientId)
    .where('date_revoked', 'is', null)
    .execute();
  accessChanged(transaction);
}

/** Revokes the API keys of a game or a user. */
export async function revokeKeys(
  app: Issuing,
  transaction: Transaction,
  owner: { gameId: number } | { userId: number },
): Promise<void> {
  await transaction.query
    .updateTable('api_keys')
    .set({ date_revoked: app.clock.now() })
    .where('gameId' in owner ? 'game_id' : 'user_id', '=', 'gameId' in owner ? owner.gameId : owner.userId)
    .where('date_revoked', 'is', null)
    .execute();
  accessChanged(transaction);
}

/** Marks everything that `authenticate` caches as stale: keys, tokens, account states, teams. */
export function accessChanged(transaction: Transaction): void {
  transaction.changed(ACCESS_SCOPE);
}

export const ACCESS_SCOPE = 'access';

/** Marks the cached callers of one user as stale, so that no other caller has to be reloaded. */
export function accessOfUserChanged(transaction: Transaction, userId: number): void {
  transaction.changed(accessScopeOf(userId));
}

export const accessScopeOf = (userId: number) => `${ACCESS_SCOPE}/${userId}`;

/** Marks the mutes and blocks of one user as stale. A cached caller knows only whether there are any. */
export function visibilityChanged(transaction: Transaction, userId: number): void {
  transaction.changed(visibilityScopeOf(userId));
}

export const visibilityScopeOf = (userId: number) => `visibility/${userId}`;

// Tokens of deleted accounts stay until they expire, so that a request with one gets the error USER_DELETED.
const OUTDATED_TOKENS = someOf(
  'access_tokens',
  ['id'],
  `date_expires < ? or (date_revoked < ? and user_id not in
    (select id from users where status = 3 and merged_into is null))`,
);
const OUTDATED_SERVICE_TOKENS = someOf('service_tokens', ['id'], 'date_expires < ? or date_revoked < ?');

/** Deletes tokens that ended before this time. */
export async function forgetTokens(db: Database, before: number): Promise<void> {
  await removeInSteps(db, OUTDATED_TOKENS, [before, before]);
  await removeInSteps(db, OUTDATED_SERVICE_TOKENS, [before, before]);
}
