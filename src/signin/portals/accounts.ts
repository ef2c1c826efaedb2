import type { Identity as Known } from '../../people/users/bans.ts';
import { setPortalNames, type UserRow } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../platform/vocabulary/game-platforms.ts';
import { type Identity, PER_GAME } from './identity.ts';
import * as store from './store.ts';

export type { AccountRow } from './store.ts';

/** A client that lost the response retries from the same address. */
const AGAIN_SECONDS = 60;
const NAME_CHARACTERS_MAX = 100;

/** The error of each portal for an invalid ticket. */
const USED_UP: Partial<Record<LinkedPortal, ErrorName>> = {
  apple: 'APPLE_INVALID_TOKEN',
  epicgames: 'EPIC_GAMES_INVALID_TOKEN',
  gog: 'GOG_APP_TICKET_INVALID',
  google: 'GOOGLE_INVALID_TOKEN',
  nintendo: 'SWITCH_INVALID_TOKEN',
  sso: 'OPENID_INVALID_TOKEN',
  steam: 'STEAM_APP_TICKET_INVALID',
  xboxlive: 'XBOX_LIVE_INVALID_TOKEN',
};

/** The game within which a portal id is unique; 0 for all games. */
export const gameOf = ({ portal, perGame }: Pick<Identity, 'portal' | 'perGame'>, gameId: number): number =>
  perGame || PER_GAME.includes(portal) ? gameId : 0;

export const findAccount = ({ query }: Transaction, identity: Identity, gameId: number) =>
  store.accountOf(query, identity.portal, identity.id, gameOf(identity, gameId));

/** A used ticket cannot sign in again, so that a stolen one is worthless. */
export async function useTicket(app: App, { query }: Transaction, identity: Identity, ip: string): Promise<void> {
  const { ticket, portal } = identity;
  if (!ticket) return;
  const now = app.clock.now();
  const digest = app.secrets.digest(`${portal} ${ticket.text}`);
  const used = await store.useTicket(query, { digest, ip, date_added: now, date_expires: ticket.until });
  if (used && (used.ip !== ip || used.date_added < now - AGAIN_SECONDS))
    throw new ApiError(USED_UP[portal] ?? 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
}

/** Names are shown on one line, whatever characters the platform allows. */
export const shownName = (name: string): string =>
  [...name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, NAME_CHARACTERS_MAX).join('');

/** Returns false if another request added it first. */
export async function addAccount(
  app: App,
  transaction: Transaction,
  userId: number,
  identity: Identity,
  gameId: number,
): Promise<boolean> {
  const { portal, id, displayName, avatar } = identity;
  const now = app.clock.now();
  const added = await store.addAccount(transaction.query, {
    user_id: userId,
    portal,
    portal_id: id,
    game_id: gameOf(identity, gameId),
    display_name: shownName(displayName),
    avatar,
    date_added: now,
    date_used: now,
  });
  if (added) await rewriteNames(transaction, userId);
  return added;
}

/** Updates the account from the platform’s answer; a missing name keeps the old one. */
export async function refreshAccount(
  app: App,
  transaction: Transaction,
  account: store.AccountRow,
  { displayName, avatar }: Identity,
): Promise<void> {
  await store.updateAccount(transaction.query, account.id, {
    display_name: shownName(displayName) || account.display_name,
    avatar: avatar || account.avatar,
    date_used: app.clock.now(),
  });
  await rewriteNames(transaction, account.user_id);
}

/** The wish is stored, so that later sign-ins need not repeat it. */
export const requestMonetization = ({ query }: Transaction, identity: Identity, gameId: number): Promise<unknown> =>
  store.requestMonetization(query, identity.portal, identity.id, gameOf(identity, gameId));

/** If a user has several accounts on one portal, the last used one determines the name. */
export async function rewriteNames(transaction: Transaction, userId: number): Promise<void> {
  const accounts = await store.accountsOf(transaction.query, userId);
  const named = accounts.filter(({ display_name }) => display_name !== '');
  await setPortalNames(
    transaction,
    userId,
    Object.fromEntries(named.map(({ portal, display_name }) => [portal, display_name])),
  );
}

export async function forgetOutdated(app: App): Promise<void> {
  await app.db.write(({ query }) => store.forget(query, app.clock.now()));
}

/** Whether both users have an account on the same portal, which one user cannot have. */
export const shareAPortal = (transaction: Transaction, one: number, other: number): Promise<boolean> =>
  store.shareAPortal(transaction, one, other);

/** The identifier of a portal account in the list of bans. */
export const portalIdentifier = (portal: string, id: string, gameId: number): Known =>
  `portal ${portal} ${gameId} ${id}`;

/** The id of the user's account on a portal in a game; the last used one if there are several. */
export async function linkedId(
  query: Query,
  userId: number,
  portal: LinkedPortal,
  gameId: number,
): Promise<string | undefined> {
  const accounts = await store.accountsOf(query, userId);
  const isMeant = (account: store.AccountRow) => account.portal === portal && [0, gameId].includes(account.game_id);
  return accounts.findLast(isMeant)?.portal_id;
}

/** All identifiers by which a banned user can be recognised. */
export async function identitiesOf({ query }: Transaction, { id, email }: UserRow): Promise<Known[]> {
  const accounts = await store.accountsOf(query, id);
  const known = accounts.map(({ portal, portal_id, game_id }) => portalIdentifier(portal, portal_id, game_id));
  return email === null ? known : [`email ${email}`, ...known];
}
