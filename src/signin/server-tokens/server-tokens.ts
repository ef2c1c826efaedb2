import { lockGame, requireGameAdministrator } from '../../catalogue/games/games.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { accessChanged, TOKEN_LIFETIME_SECONDS } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import * as store from './store.ts';
import type { ServerTokenScope } from './table.ts';

export const TOKENS_MAX = 100;
export const MODS_MAX = 500;

export type ServerToken = store.ServerTokenRow & { readonly modIds: readonly number[] };

export interface NewServerToken {
  readonly name: string;
  readonly modIds: readonly number[] | undefined;
  readonly collectionId: number | undefined;
  readonly requestsPerMinute: number | undefined;
  readonly dateExpires: number | undefined;
}

export async function listServerTokens(app: App, caller: Caller, gameId: number): Promise<ServerToken[]> {
  await requireGameAdministrator(app.db, caller, gameId);
  const tokens = await store.tokensOf(app.db.query, gameId, app.clock.now());
  const mods = await store.modsOf(
    app.db.query,
    tokens.map(({ id }) => id),
  );
  return tokens.map((token) => ({ ...token, modIds: mods.get(token.id) ?? [] }));
}

/** Creates a token for a server. The secret is shown only this once. */
export const addServerToken = (app: App, caller: UserCaller, gameId: number, wanted: NewServerToken) =>
  app.db.write(async (transaction): Promise<{ token: ServerToken; secret: string }> => {
    await requireGameAdministrator(transaction, caller, gameId);
    await lockGame(transaction, gameId);
    const { query } = transaction;
    const now = app.clock.now();
    if ((await store.tokensOf(query, gameId, now)).length >= TOKENS_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'name', rule: 'array_max', values: { max: TOKENS_MAX } }],
      });
    const modIds = [...new Set(wanted.modIds ?? [])].sort((one, other) => one - other);
    await requireInGame(transaction, gameId, modIds, wanted.collectionId);
    const secret = app.random.token();
    const row = await store.add(query, {
      digest: app.secrets.digest(secret),
      game_id: gameId,
      name: wanted.name,
      scope: scopeOf(wanted),
      collection_id: wanted.collectionId ?? null,
      requests_per_minute: wanted.requestsPerMinute ?? null,
      date_added: now,
      date_expires: expiryOf(now, wanted.dateExpires),
      date_revoked: null,
    });
    await store.addMods(query, row.id, modIds);
    transaction.made?.();
    await auditToken(app, transaction, caller, row, 'add');
    return { token: { ...row, modIds }, secret };
  });

const scopeOf = ({ modIds, collectionId }: NewServerToken): ServerTokenScope =>
  collectionId !== undefined ? 'collection' : modIds !== undefined ? 'mods' : 'game';

/** A time in the past or beyond the maximum lifetime is ignored, as for tokens of users. */
function expiryOf(now: number, wanted: number | undefined): number {
  const latest = now + TOKEN_LIFETIME_SECONDS;
  return wanted !== undefined && wanted > now && wanted <= latest ? wanted : latest;
}

async function requireInGame(
  { query }: Transaction,
  gameId: number,
  modIds: readonly number[],
  collectionId: number | undefined,
): Promise<void> {
  const known = await store.modsOfGameAmong(query, gameId, modIds);
  const isMissing = collectionId !== undefined && !(await store.hasCollection(query, gameId, collectionId));
  const fields = [
    ...(known.size < modIds.length ? [{ field: 'mod_ids', rule: 'invalid' as const }] : []),
    ...(isMissing ? [{ field: 'collection_id', rule: 'invalid' as const }] : []),
  ];
  if (fields.length > 0) throw new ApiError('VALIDATION_GENERIC', { fields });
}

/** Revokes a token at once. */
export const deleteServerToken = (app: App, caller: UserCaller, gameId: number, id: number): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    const token = await store.byId(transaction, id);
    if (token?.game_id !== gameId) throw new ApiError('RESOURCE_NOT_FOUND');
    if (!(await store.revoke(transaction.query, id, app.clock.now())))
      throw new ApiError('OAUTH_TOKEN_ALREADY_DELETED');
    accessChanged(transaction);
    await auditToken(app, transaction, caller, token, 'delete');
  });

const auditToken = (
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  token: store.ServerTokenRow,
  what: 'add' | 'delete',
) =>
  auditGame(app, transaction, caller, token.game_id, {
    action: `server-tokens-${what}`,
    data: { token: token.id, name: token.name },
  });

export async function serverSettings(app: App, caller: Caller, gameId: number): Promise<{ anonymous: boolean }> {
  await requireGameAdministrator(app.db, caller, gameId);
  return { anonymous: await store.isAnonymous(app.db.query, gameId) };
}

/** Opens or closes the free content of a game to callers without credentials. */
export const editServerSettings = (app: App, caller: UserCaller, gameId: number, anonymous: boolean): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await store.putSettings(transaction.query, gameId, Number(anonymous));
    await auditGame(app, transaction, caller, gameId, { action: 'server-settings', data: { anonymous } });
  });

/** The tokens of a deleted game end with it, at once. */
export async function revokeServerTokens(app: App, transaction: Transaction, gameId: number): Promise<void> {
  await store.revokeOfGame(transaction.query, gameId, app.clock.now());
  accessChanged(transaction);
}

/** The audit log keeps what a token was for. */
export async function forgetEndedServerTokens(app: App): Promise<void> {
  await app.db.write(({ query }) => store.removeEnded(query, app.clock.now() - REMEMBER_SECONDS));
}
const REMEMBER_SECONDS = 86_400;
