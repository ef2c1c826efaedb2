import { requireGame } from '../../catalogue/games/games.ts';
import { requireUser } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { balancesOf, tokenAccount } from '../ledger/ledger.ts';
import { GAME_SELLS } from '../terms/switches.ts';
import { termsOf } from '../terms/terms.ts';

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
  const game = await requireGame(app.db, caller, gameId);
  const kinds = ['wallet', 'pending_earnings', 'deficit'] as const;
  const balances = await balancesOf(
    app.db,
    kinds.map((kind) => tokenAccount(kind, gameId, userId)),
  );
  const [balance = 0, pending = 0, deficit = 0] = balances;
  if ((game.monetization_options & GAME_SELLS) === 0 && balances.every((each) => each === 0))
    throw new ApiError('MONETIZATION_TEAM_NOT_FOUND');
  const { monetization_status: monetizationStatus, email } = await requireUser(app, userId);
  if (email === null && (await termsOf(app.db, gameId)).terms.verified_only)
    throw new ApiError('USER_UNVERIFIED_ACCOUNTS', { fields: [{ field: 'email', rule: 'email_unconfirmed' }] });
  return { userId, gameId, balance, pending, deficit: Math.abs(deficit), monetizationStatus };
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

/** Identifies the wallet to clients that pass it on; it opens nothing. */
export function paymentMethodOf({ secrets }: App, userId: number, gameId: number): string {
  const hex = Buffer.from(secrets.sign('wallet', `${userId}/${gameId}`), 'base64url').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
