import { createHash } from 'node:crypto';
import { lockUserRows, USER_ACTIVE } from '../../people/users/users.ts';
import type { TokenScope } from '../../platform/access/caller.ts';
import {
  type IssuedToken,
  issueServiceToken,
  issueToken,
  revokeServiceTokens,
  revokeTokens,
} from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { Client, Grant } from './clients.ts';
import * as store from './store.ts';

export const ACCESS_SECONDS = 2_592_000;
export const REFRESH_SECONDS = 7_776_000;
/** A client that lost the response retries within seconds and gets the same response again. */
const REPEAT_SECONDS = 10;
const SERVICE_SCOPES: readonly TokenScope[] = ['read', 'write', 'update', 'monetization'];
/** The other two scopes extend what a service may do, so they have to be requested. */
const DEFAULT_SERVICE_SCOPES: readonly TokenScope[] = ['read', 'write'];
/** RFC 7636, section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export interface TokenAnswer {
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly scopes?: string;
}

export function requireGrant(client: Client, grant: Grant): void {
  if (!client.grants.includes(grant)) throw refusal('OAUTH_UNAUTHORIZED_CLIENT', 'grant_type');
}

/** Throws an error only after the commit, because the revocations before it must persist. */
async function settled<T>(app: App, work: (transaction: Transaction) => Promise<T | ApiError>): Promise<T> {
  const outcome = await app.db.write(work);
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

const refusal = (error: ErrorName, parameter: string): ApiError =>
  new ApiError(error, { fields: [{ field: parameter, rule: 'invalid' }] });
const invalidGrant = (parameter: string): ApiError => refusal('OAUTH_INVALID_GRANT', parameter);

export interface CodeRedemption {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string | undefined;
  readonly dateExpires: number | undefined;
}

/**
 * Exchanges a code exactly once. A second exchange revokes the first one’s tokens, because one of the two clients stole
 * the code.
 */
export const redeemCode = (app: App, client: Client, sent: CodeRedemption): Promise<TokenAnswer> =>
  settled(app, async (transaction) => {
    const { query } = transaction;
    const now = app.clock.now();
    const code = await store.codeWith(query, app.secrets.digest(sent.code));
    if (!code || code.client_id !== client.id) return invalidGrant('code');
    if (code.date_redeemed !== null) return refuseReuse(app, transaction, code.grant_id, 'code');
    if (code.date_expires <= now) return invalidGrant('code');
    if (code.redirect_uri !== sent.redirectUri) return invalidGrant('redirect_uri');
    if (!isVerified(code, sent.verifier)) return invalidGrant('code_verifier');
    if (!(await isActive(transaction, code))) return invalidGrant('code');
    if (!(await store.redeemCode(query, code.id, now))) {
      const redeemed = await store.codeWith(query, code.digest);
      return refuseReuse(app, transaction, redeemed!.grant_id, 'code');
    }
    const { client_id, user_id, scopes, redirect_uri, epoch, all_games } = code;
    const dates = { date_added: now, date_revoked: null };
    const grant = { client_id, user_id, scopes, redirect_uri, epoch, all_games, ...dates };
    const grantId = await store.addGrant(query, grant);
    await store.setGrantOfCode(query, code.id, grantId);
    const refresh = client.grants.includes('refresh_token') ? app.random.token() : undefined;
    const access = await issueAccess(app, transaction, client, { ...grant, id: grantId }, { ...sent });
    if (refresh) await addRefreshToken(app, transaction, grantId, refresh);
    return toAnswer(app, access, refresh);
  });

/**
 * A banned, deleted or locked user’s grants give no tokens, and neither do grants from before the user signed out
 * everywhere.
 */
async function isActive(transaction: Transaction, allowed: { user_id: number; epoch: number }): Promise<boolean> {
  await lockUserRows(transaction, { under: [allowed.user_id] });
  const person = await store.standingOf(transaction, allowed.user_id);
  return person?.status === USER_ACTIVE && person.date_locked === null && person.epoch === allowed.epoch;
}

/** A verifier without a challenge is refused as well: an attacker may have removed the challenge. */
function isVerified({ challenge }: store.CodeRow, verifier: string | undefined): boolean {
  if (challenge === null) return verifier === undefined;
  if (verifier === undefined || !VERIFIER.test(verifier)) return false;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}

async function refuseReuse(
  app: App,
  transaction: Transaction,
  grantId: number | null,
  parameter: 'code' | 'refresh_token',
): Promise<ApiError> {
  if (grantId !== null) await revokeGrant(app, transaction, grantId);
  return invalidGrant(parameter);
}

/** Revokes a grant and all tokens issued for it. */
export async function revokeGrant(app: App, transaction: Transaction, grantId: number): Promise<void> {
  await store.revokeGrants(transaction.query, 'id', grantId, app.clock.now());
  await revokeTokens(app, transaction, { grantId });
}

/** Revokes all grants of a user and their open codes. The tokens are revoked with the user’s own. */
export async function revokeGrantsOf(app: App, { query }: Transaction, userId: number): Promise<void> {
  await store.revokeGrants(query, 'user_id', userId, app.clock.now());
  await store.closeCodesOf(query, userId, app.clock.now());
}

interface Wishes {
  readonly scopes?: string;
  readonly dateExpires: number | undefined;
  readonly secret?: string;
}

const issueAccess = (app: App, transaction: Transaction, client: Client, grant: store.GrantRow, wishes: Wishes) =>
  issueToken(app, transaction, {
    userId: grant.user_id,
    gameId: client.gameId,
    clientId: client.id,
    grantId: grant.id,
    epoch: grant.epoch,
    clientEpoch: client.epoch,
    allGames: grant.all_games === 1,
    scopes: (wishes.scopes ?? grant.scopes).split(' ') as TokenScope[],
    lifetimeSeconds: ACCESS_SECONDS,
    dateExpires: wishes.dateExpires,
    ...(wishes.secret && { secret: wishes.secret }),
  });

async function addRefreshToken(app: App, { query }: Transaction, grantId: number, secret: string): Promise<void> {
  const now = app.clock.now();
  const digest = app.secrets.digest(secret);
  const dates = { date_added: now, date_expires: now + REFRESH_SECONDS, date_rotated: null };
  await store.addRefreshToken(query, { digest, grant_id: grantId, ...dates });
}

const toAnswer = (app: App, { access_token, date_expires }: IssuedToken, refresh: string | undefined): TokenAnswer => ({
  token_type: 'Bearer',
  expires_in: date_expires - app.clock.now(),
  access_token,
  ...(refresh && { refresh_token: refresh }),
});

export interface Refreshing {
  readonly refreshToken: string;
  /** Only standard clients may omit it. */
  readonly redirectUri: string | undefined;
  readonly scope: string | undefined;
  readonly dateExpires: number | undefined;
}

/**
 * Rotates a refresh token. The new tokens are derived from the old one and a server secret, so that a retried request
 * gets the same response although only digests are stored.
 */
export const refresh = (app: App, client: Client, sent: Refreshing): Promise<TokenAnswer> =>
  settled(app, async (transaction) => {
    const { query } = transaction;
    const now = app.clock.now();
    const token = await store.refreshTokenWith(query, app.secrets.digest(sent.refreshToken));
    const grant = token && (await store.grantById(query, token.grant_id));
    if (!token || grant?.client_id !== client.id || grant.date_revoked !== null) return invalidGrant('refresh_token');
    if (token.date_expires <= now) return invalidGrant('refresh_token');
    if (sent.redirectUri !== undefined && grant.redirect_uri !== sent.redirectUri) return invalidGrant('redirect_uri');
    if (!(await isActive(transaction, grant))) return invalidGrant('refresh_token');
    const scopes = narrowed(grant.scopes, sent.scope);
    if (!scopes) return refusal('OAUTH_INVALID_SCOPE', 'scope');
    const next = successors(app, sent.refreshToken, scopes, sent.dateExpires);
    if (token.date_rotated !== null || !(await store.rotateRefreshToken(query, token.id, now)))
      return repeated(app, transaction, token, next);
    const wishes = { scopes, dateExpires: sent.dateExpires, secret: next.access };
    const access = await issueAccess(app, transaction, client, grant, wishes);
    await addRefreshToken(app, transaction, grant.id, next.refresh);
    return toAnswer(app, access, next.refresh);
  });

const wordsOf = (scope: string): string[] => scope.split(/[ ,]+/).filter(Boolean);

function narrowed(granted: string, requested: string | undefined): string | undefined {
  if (requested === undefined) return granted;
  const [words, known] = [wordsOf(requested), granted.split(' ')];
  const isWithin = words.length > 0 && words.every((word) => known.includes(word));
  return isWithin ? known.filter((scope) => words.includes(scope)).join(' ') : undefined;
}

const successors = (app: App, token: string, scopes: string, dateExpires: number | undefined) => ({
  refresh: app.secrets.sign('oauth/refresh', token),
  access: app.secrets.sign('oauth/access', `${token} ${dateExpires ?? ''} ${scopes}`),
});

/**
 * The same request within seconds is a retry after a lost response; any other reuse of a rotated token means that it
 * was stolen.
 */
async function repeated(
  app: App,
  transaction: Transaction,
  token: store.RefreshTokenRow,
  next: { refresh: string; access: string },
): Promise<TokenAnswer | ApiError> {
  const { query } = transaction;
  const now = app.clock.now();
  const rotated = (await store.refreshTokenWith(query, token.digest))!.date_rotated!;
  const successor = await store.refreshTokenWith(query, app.secrets.digest(next.refresh));
  const access = await store.accessTokenWith(query, app.secrets.digest(next.access));
  const isRepeat = now - rotated <= REPEAT_SECONDS && successor?.date_rotated === null && access?.date_revoked === null;
  if (!isRepeat) return refuseReuse(app, transaction, token.grant_id, 'refresh_token');
  return toAnswer(app, { access_token: next.access, date_expires: access.date_expires }, next.refresh);
}

/** Issues a token to the backend of a game, which acts for no user. */
export async function giveServiceToken(
  app: App,
  client: Client,
  scope: string | undefined,
  dateExpires: number | undefined,
): Promise<TokenAnswer> {
  const words = scope === undefined ? DEFAULT_SERVICE_SCOPES : wordsOf(scope);
  if (words.length === 0 || !words.every((word) => (SERVICE_SCOPES as readonly string[]).includes(word)))
    throw refusal('OAUTH_INVALID_SCOPE', 'scope');
  const scopes = SERVICE_SCOPES.filter((each) => (words as readonly string[]).includes(each));
  const token = await app.db.write((transaction) =>
    issueServiceToken(app, transaction, {
      clientId: client.id,
      gameId: client.gameId,
      scopes,
      lifetimeSeconds: ACCESS_SECONDS,
      dateExpires,
      clientEpoch: client.epoch,
    }),
  );
  return { ...toAnswer(app, token, undefined), scopes: scopes.join(',') };
}

/** Revokes any token of the client. An unknown token, or another client’s, gets the same answer (RFC 7009, 2.2). */
export const revokeToken = (app: App, client: Client, token: string): Promise<void> =>
  app.db.write(async (transaction) => {
    const { query } = transaction;
    const digest = app.secrets.digest(token);
    const refreshToken = await store.refreshTokenWith(query, digest);
    const grant = refreshToken && (await store.grantById(query, refreshToken.grant_id));
    if (grant?.client_id === client.id) await revokeGrant(app, transaction, grant.id);
    const access = await store.accessTokenWith(query, digest);
    if (access?.client_id === client.id) await revokeTokens(app, transaction, { tokenId: access.id });
    const service = await store.serviceTokenWith(query, digest);
    if (service?.client_id === client.id) await revokeServiceTokens(app, transaction, { tokenId: service.id });
  });

const REMEMBER_SECONDS = 86_400;

export const forgetOutdatedGrants = (app: App): Promise<void> =>
  store.forget(app.db, app.clock.now() - REMEMBER_SECONDS);
