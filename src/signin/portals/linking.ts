import { requireGame } from '../../catalogue/games/games.ts';
import { requireUserForChange, requireUserIn } from '../../people/users/users.ts';
import type { ServiceCaller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { requireDelegator } from '../oauth/delegation.ts';
import { type AccountRow, addAccount, findAccount, rewriteNames, useTicket } from './accounts.ts';
import type { Credentials, Identity } from './identity.ts';
import * as store from './store.ts';
import { identify } from './verifying.ts';

export const connectionsOf = (app: App, caller: Pick<UserCaller, 'userId'>): Promise<AccountRow[]> =>
  store.accountsOf(app.db.query, caller.userId);

export interface Link {
  readonly portal: LinkedPortal;
  readonly credentials: Credentials;
  /** The game whose settings are used, if the token belongs to no game. */
  readonly gameId: number | undefined;
  readonly ip: string;
}

/** Links another portal to the account of the caller. */
export async function link(app: App, caller: UserCaller, request: Link): Promise<AccountRow> {
  const gameId = caller.gameId ?? request.gameId;
  if (gameId === undefined)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'game_id', rule: 'required' }] });
  await requireGame(app.db, caller, gameId);
  const identity = await identify(app, gameId, request.portal, request.credentials);
  return linkIdentity(app, caller.userId, gameId, identity, request.ip);
}

/** Links a confirmed identity to the account of the caller. */
export const linkIdentity = (
  app: App,
  userId: number,
  gameId: number,
  identity: Identity,
  ip: string,
): Promise<AccountRow> =>
  app.db.write(async (transaction) => {
    await requireUserIn(transaction, userId);
    await useTicket(app, transaction, identity, ip);
    if (!(await addAccount(app, transaction, userId, identity, gameId))) {
      const taken = await findAccount(transaction, identity, gameId);
      const isOthers = taken !== undefined && taken.user_id !== userId;
      throw new ApiError(isOthers ? 'USER_DUPLICATE_ACCOUNTS' : 'USER_CONNECTION_EXISTS');
    }
    return (await findAccount(transaction, identity, gameId))!;
  });

export const unlink = (app: App, caller: UserCaller, portal: LinkedPortal): Promise<void> =>
  app.db.write((transaction) =>
    removeConnections(transaction, caller.userId, (account) => account.portal === portal, 'USER_CONNECTION_NOT_FOUND'),
  );

/** Unlinks one account of a portal that can have several per user, one for each game. */
export const unlinkAccount = (app: App, userId: number, accountId: number): Promise<void> =>
  app.db.write((transaction) =>
    removeConnections(transaction, userId, ({ id }) => id === accountId, 'USER_CONNECTION_NOT_FOUND'),
  );

/** The backend of a game unlinks a portal for a user who delegated to it. It cannot see ids of other games. */
export async function disconnect(
  app: App,
  caller: ServiceCaller,
  portal: LinkedPortal,
  delegationToken: string | undefined,
): Promise<void> {
  const { id } = await requireDelegator(app, caller, delegationToken);
  const isMeant = (account: AccountRow) => account.portal === portal && [0, caller.gameId].includes(account.game_id);
  await app.db.write((transaction) => removeConnections(transaction, id, isMeant, 'USER_CONNECTION_MEMBER_NOT_FOUND'));
}

async function removeConnections(
  transaction: Transaction,
  userId: number,
  isMeant: (account: AccountRow) => boolean,
  missing: ErrorName,
): Promise<void> {
  // Locking the user keeps one portal when two are unlinked at once.
  const user = await requireUserForChange(transaction, userId);
  const accounts = await store.accountsOf(transaction.query, userId);
  const going = accounts.filter(isMeant);
  if (going.length === 0) throw new ApiError(missing);
  if (user.email === null && going.length === accounts.length) throw new ApiError('USER_CANNOT_DELETE_CONNECTION');
  await store.removeAccounts(
    transaction.query,
    going.map(({ id }) => id),
  );
  await rewriteNames(transaction, userId);
}
