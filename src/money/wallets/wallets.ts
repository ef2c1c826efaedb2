import { LRUCache } from 'lru-cache';
import { GAME_ACCEPTED, isOpenToThirdParties, requireGame } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Secrets } from '../../platform/config/secrets.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { balancesOf, tokenAccount, tokensOf } from '../ledger/ledger.ts';
import { requireTrustedSignIn } from '../spending/sign-ins.ts';
import { DEFAULT_TERMS } from '../terms/fields.ts';
import { GAME_SELLS } from '../terms/switches.ts';
import { termsIn } from '../terms/terms.ts';
import * as store from './store.ts';

export interface Wallet {
  readonly userId: number;
  readonly gameId: number;
  readonly balance: number;
  /** Earnings that refunds can still take back. */
  readonly pending: number;
  /** Tokens that the user owes. */
  readonly deficit: number;
  readonly monetizationStatus: number;
}

/** A wallet needs no row: before the first posting it is empty. A game that does not sell has none to show. */
export async function showWallet(app: App, caller: UserCaller, gameId: number): Promise<Wallet> {
  const { userId } = caller;
  const row = await store.walletOf(app.db, userId, gameId, tokensOf(gameId));
  if (row?.game_status !== GAME_ACCEPTED || !isOpenToThirdParties(row)) await requireGame(app.db, caller, gameId);
  if (!row) throw new ApiError('USER_NOT_FOUND');
  const { balance, pending, deficit, monetization_status: monetizationStatus } = row;
  const isEmpty = balance === 0 && pending === 0 && deficit === 0;
  if ((row.monetization_options & GAME_SELLS) === 0 && isEmpty) throw new ApiError('MONETIZATION_TEAM_NOT_FOUND');
  await requireSpendable(app, caller, row);
  return { userId, gameId, balance, pending, deficit: Math.abs(deficit), monetizationStatus };
}

const refused = (error: ErrorName, field: string): ApiError =>
  new ApiError(error, { fields: [{ field, rule: 'invalid' }] });

/**
 * A wallet from which the caller could buy nothing is not shown but refused with the reason, so that a client asks for the
 * missing step, such as another sign-in, before it offers anything.
 */
async function requireSpendable(app: App, caller: UserCaller, row: store.WalletRow): Promise<void> {
  if (row.is_locked === 1) throw refused('MONETIZATION_ACCOUNT_ERROR', 'account');
  const terms = row.terms === null ? DEFAULT_TERMS : termsIn(row.terms);
  if (row.email === null && terms.verified_only)
    throw new ApiError('USER_UNVERIFIED_ACCOUNTS', { fields: [{ field: 'email', rule: 'email_unconfirmed' }] });
  await requireTrustedSignIn(app, app.db, caller, row, terms);
}

/** The tokens that a user can spend, and those that they owe. */
export async function tokensOwned(
  reader: Pick<Database, 'first' | 'all'>,
  gameId: number,
  userId: number,
): Promise<{ balance: number; deficit: number }> {
  const accounts = [tokenAccount('wallet', gameId, userId), tokenAccount('deficit', gameId, userId)];
  const [balance = 0, deficit = 0] = await balancesOf(reader, accounts);
  return { balance, deficit: Math.abs(deficit) };
}

const METHODS_KEPT = 10_000;
/** A signature costs as much as reading the wallet. */
const methods = new WeakMap<Secrets, LRUCache<string, string>>();

/** Identifies the wallet to clients that pass it on; it opens nothing. */
export function paymentMethodOf({ secrets }: App, userId: number, gameId: number): string {
  const known = methods.get(secrets) ?? new LRUCache<string, string>({ max: METHODS_KEPT });
  methods.set(secrets, known);
  const wallet = `${userId}/${gameId}`;
  const method = known.get(wallet) ?? signed(secrets, wallet);
  known.set(wallet, method);
  return method;
}

function signed(secrets: Secrets, wallet: string): string {
  const hex = Buffer.from(secrets.sign('wallet', wallet), 'base64url').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
