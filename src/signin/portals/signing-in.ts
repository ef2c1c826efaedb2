import { requireGame } from '../../catalogue/games/games.ts';
import { agree, hasAgreed } from '../../people/agreements/acceptances.ts';
import { refuseBanned } from '../../people/users/bans.ts';
import {
  addUser,
  admitUser,
  findUserByEmailIn,
  findUserIn,
  normalisedEmail,
  type UserRow,
  usernameFor,
} from '../../people/users/users.ts';
import type { KeyCaller } from '../../platform/access/caller.ts';
import { type IssuedToken, issueToken } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import { isDuplicate, type Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { requireDelegationOf } from '../oauth/delegation.ts';
import {
  addAccount,
  findAccount,
  gameOf,
  portalIdentifier,
  refreshAccount,
  requestMonetization,
  shownName,
  useTicket,
} from './accounts.ts';
import { mailConfirmationLater } from './email-confirmation.ts';
import type { Credentials, Identity } from './identity.ts';
import { identify } from './verifying.ts';

export interface SignIn {
  readonly portal: LinkedPortal;
  readonly credentials: Credentials;
  /** A PlayStation account to link with the studio’s own account. */
  readonly besides?: { readonly portal: LinkedPortal; readonly credentials: Credentials } | undefined;
  readonly termsAgreed: boolean;
  readonly email?: string | undefined;
  /** Whether the studio requests that the user can buy and sell. */
  readonly monetizationAccount?: boolean;
  readonly dateExpires?: number | undefined;
  readonly ip: string;
  readonly language: Language;
}

/** Another request wrote the row between our read and our write; the transaction rolls back and is retried. */
class LostRace extends Error {}
/** Concurrent users with similar names compete for the same profile address. */
const RACES_MAX = 32;

/** Signs in the user of a portal, and creates the account on the first sign-in. */
export async function signIn(app: App, caller: KeyCaller, request: SignIn): Promise<IssuedToken> {
  const gameId = await requireGameOfKey(app, caller);
  const identity = await identify(app, gameId, request.portal, request.credentials);
  const { besides } = request;
  const second = besides && (await identify(app, gameId, besides.portal, besides.credentials));
  return signInIdentity(app, gameId, identity, { ...request, second }, (transaction, user) =>
    issueToken(app, transaction, { userId: user.id, gameId, dateExpires: request.dateExpires }),
  );
}

/** The key must belong to an existing game. */
async function requireGameOfKey(app: App, caller: KeyCaller): Promise<number> {
  const { gameId } = caller;
  if (gameId === undefined) throw new ApiError('ACTION_RESTRICTED_GAME_API_KEY');
  await requireGame(app.db, caller, gameId).catch((cause) => {
    throw cause instanceof ApiError ? new ApiError('GAME_NOT_FOUND', { status: 401, cause }) : cause;
  });
  return gameId;
}

async function withoutRaces<T>(work: () => Promise<T>): Promise<T> {
  for (let race = 1; ; race += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LostRace || isDuplicate(error)) || race === RACES_MAX) throw error;
    }
  }
}

/** The circumstances of a sign-in. */
export interface Entry extends Pick<SignIn, 'termsAgreed' | 'email' | 'monetizationAccount' | 'ip' | 'language'> {
  readonly second?: Identity | undefined;
}

/** Signs a confirmed identity in, creates the account if needed, and returns the result of `give`. */
export const signInIdentity = <T>(
  app: App,
  gameId: number,
  identity: Identity,
  entry: Entry,
  give: (transaction: Transaction, user: UserRow) => Promise<T>,
): Promise<T> =>
  withoutRaces(() =>
    app.db.write(async (transaction) => give(transaction, await admit(app, transaction, gameId, identity, entry))),
  );

async function admit(
  app: App,
  transaction: Transaction,
  gameId: number,
  identity: Identity,
  request: Entry,
): Promise<UserRow> {
  const account = await findAccount(transaction, identity, gameId);
  const known = account && (await findUserIn(transaction, account.user_id));
  if (known) await admitUser(transaction, known.id);
  await requireTerms(transaction, known, identity, gameId, request.termsAgreed);
  await useTicket(app, transaction, identity, request.ip);
  const user = known ?? (await addUserFrom(app, transaction, gameId, identity, request));
  if (account) await refreshAccount(app, transaction, account, identity);
  else if (!(await addAccount(app, transaction, user.id, identity, gameId))) throw new LostRace();
  if (request.monetizationAccount) await requestMonetization(transaction, identity, gameId);
  if (request.second) await linkSecondAccount(app, transaction, user, request.second, gameId);
  if (request.termsAgreed) await agreeFor(app, transaction, user, identity, gameId);
  const { email, language } = request;
  if (email && user.email === null) await mailConfirmationLater(app, transaction, { userId: user.id, email, language });
  return user;
}

/** PlayStation requires consent for each game. */
const consentGameOf = ({ portal }: Pick<Identity, 'portal'>, gameId: number) => (portal === 'psn' ? gameId : undefined);

async function requireTerms(
  transaction: Transaction,
  user: UserRow | undefined,
  identity: Identity,
  gameId: number,
  termsAgreed: boolean,
): Promise<void> {
  if (termsAgreed) return;
  if (!user || !(await hasAgreed(transaction, user.id, consentGameOf(identity, gameId))))
    throw new ApiError('NO_TERMS_AGREEMENT');
}

async function agreeFor(
  app: App,
  transaction: Transaction,
  user: UserRow,
  identity: Identity,
  gameId: number,
): Promise<void> {
  await agree(app, transaction, user.id);
  const game = consentGameOf(identity, gameId);
  if (game !== undefined) await agree(app, transaction, user.id, game);
}

/**
 * A user with an account by email links the portal to it instead of getting a second account. The error reveals that an
 * address has an account, but a wrong guess creates an account, and that identity cannot guess again.
 */
async function addUserFrom(
  app: App,
  transaction: Transaction,
  gameId: number,
  identity: Identity,
  request: Entry,
): Promise<UserRow> {
  const { portal, id } = identity;
  await refuseBanned(app, transaction, portalIdentifier(portal, id, gameOf(identity, gameId)));
  if (identity.email) await refuseBanned(app, transaction, `email ${normalisedEmail(identity.email)}`);
  for (const email of [request.email, identity.email])
    if (email && (await findUserByEmailIn(transaction, email))) throw new ApiError('PORTAL_ACCOUNT_ALREADY_EXISTS');
  const username = await usernameFor(app, transaction, shownName(identity.displayName));
  return addUser(app, transaction, { email: identity.email, username, language: request.language });
}

/** Links the second account if it is free. The sign-in does not depend on it. */
async function linkSecondAccount(
  app: App,
  transaction: Transaction,
  user: UserRow,
  identity: Identity,
  gameId: number,
): Promise<void> {
  const account = await findAccount(transaction, identity, gameId);
  if (!account) await addAccount(app, transaction, user.id, identity, gameId);
  else if (account.user_id === user.id) await refreshAccount(app, transaction, account, identity);
}

interface Delegated {
  readonly token: string | undefined;
  readonly termsAgreed: boolean;
  readonly dateExpires: number | undefined;
}

/** Signs the user of a delegation token in, which the game passed to its web view. */
export async function signInByDelegation(
  app: App,
  caller: KeyCaller,
  { token, termsAgreed, dateExpires }: Delegated,
): Promise<IssuedToken> {
  const gameId = await requireGameOfKey(app, caller);
  const { user_id: userId, epoch, content_only } = await requireDelegationOf(app, gameId, token);
  return app.db.write(async (transaction) => {
    const user = await findUserIn(transaction, userId);
    if (!user) throw new ApiError('SERVICE_INVALID_TOKEN');
    await admitUser(transaction, user.id);
    if (termsAgreed) await agree(app, transaction, userId);
    else if (!(await hasAgreed(transaction, userId))) throw new ApiError('NO_TERMS_AGREEMENT');
    return issueToken(app, transaction, { userId, gameId, epoch, contentOnly: content_only === 1, dateExpires });
  });
}
