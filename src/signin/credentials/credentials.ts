import { requireGame } from '../../catalogue/games/games.ts';
import { requireReview, reviewed } from '../../catalogue/reviews/reviews.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { TokenScope, UserCaller } from '../../platform/access/caller.ts';
import { type IssuedToken, issueKey, issueToken, revokeKeys, revokeTokens } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { revokeGrant } from '../oauth/grants.ts';
import * as store from './store.ts';

/** How many tokens a user can create for themselves. */
export const TOKENS_MAX = 100;

export type TokenRow = Awaited<ReturnType<typeof store.tokensOf>>[number];

export const listTokens = (app: App, { userId }: UserCaller): Promise<TokenRow[]> =>
  store.tokensOf(app.db.query, userId, app.clock.now());

export interface NewToken {
  readonly name: string;
  readonly scopes: readonly ('read' | 'write')[];
  readonly dateExpires: number | undefined;
}

/** A token for the user's own script or server, with at most the scopes of the caller's token. */
export const makeToken = (app: App, caller: UserCaller, token: NewToken): Promise<IssuedToken> =>
  app.db.write(async (transaction) => {
    const isWithin = token.scopes.every((scope) => caller.scopes.includes(scope));
    if (!isWithin) throw new ApiError('TOKEN_MISSING_SCOPE_WRITE');
    await store.lockUserRow(transaction, caller.userId);
    const { count } = await store.tokensHeldBy(transaction.query, caller.userId, app.clock.now());
    if (Number(count) >= TOKENS_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'name', rule: 'array_max', values: { max: TOKENS_MAX } }],
      });
    const scopes: TokenScope[] = [...new Set(token.scopes)];
    const { name, dateExpires } = token;
    transaction.made?.();
    return issueToken(app, transaction, { userId: caller.userId, scopes, name, dateExpires, epoch: caller.epoch });
  });

/** Revokes a token. If an application owns it, the whole grant of the application ends. */
export const deleteToken = (app: App, caller: UserCaller, id: number): Promise<void> =>
  app.db.write(async (transaction) => {
    const token = await store.tokenById(transaction.query, id);
    if (!token) throw new ApiError('RESOURCE_NOT_FOUND');
    if (token.user_id !== caller.userId) throw new ApiError('OAUTH_TOKEN_DELETE_NO_PERMISSION');
    if (token.date_revoked !== null) throw new ApiError('OAUTH_TOKEN_ALREADY_DELETED');
    if (token.grant_id !== null) await revokeGrant(app, transaction, token.grant_id);
    else await revokeTokens(app, transaction, { tokenId: id });
  });

export async function requireKey(app: App, { userId }: UserCaller): Promise<{ date_added: number }> {
  const key = await store.keyOfUser(app.db.query, userId);
  if (!key) throw new ApiError('RESOURCE_NOT_FOUND');
  return key;
}

export const makeKey = (app: App, caller: UserCaller): Promise<string> =>
  app.db.write(async (transaction) => {
    await store.lockUserRow(transaction, caller.userId);
    if (await store.keyOfUser(transaction.query, caller.userId)) throw new ApiError('API_KEY_ALREADY_EXISTS_FOR_USER');
    return issueKey(app, transaction, { userId: caller.userId });
  });

/** Replaces the key; the old one stops working at once. */
export const rotateKey = (app: App, caller: UserCaller): Promise<string> =>
  app.db.write(async (transaction) => {
    await store.lockUserRow(transaction, caller.userId);
    await revokeKeys(app, transaction, { userId: caller.userId });
    return issueKey(app, transaction, { userId: caller.userId });
  });

export const deleteKey = (app: App, { userId }: UserCaller): Promise<void> =>
  app.db.write((transaction) => revokeKeys(app, transaction, { userId }));

/** Shipped games carry the old key, so only administrators may end it. */
export const rotateGameKey = (app: App, caller: UserCaller, gameId: number): Promise<string> =>
  reviewed(app, caller, gameId, async (transaction) => {
    await requireGame(transaction, caller, gameId);
    const level = await teamLevel(transaction, caller, 'games', gameId);
    if (level < ADMINISTRATOR) throw new ApiError('API_KEY_NO_ACCESS_FOR_REFRESH');
    await requireReview(app, transaction, caller, gameId, { kind: 'rotate-key' });
    await revokeKeys(app, transaction, { gameId });
    const key = await issueKey(app, transaction, { gameId });
    const subject = { resource: 'games', id: gameId, gameId };
    await audit(app, transaction, { actor: caller.userId, action: 'games.rotate-key', subject });
    return key;
  });
