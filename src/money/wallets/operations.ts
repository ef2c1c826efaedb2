import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { Id, Integer } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { paymentMethodOf, showWallet } from './wallets.ts';

const WalletObject = z
  .object({
    type: z.string(),
    payment_method_id: z.string(),
    game_id: z.string(),
    currency: z.string(),
    balance: Integer.meta({ description: 'Tokens that can be spent.' }),
    pending_balance: Integer.meta({ description: 'Earnings that refunds can still take back, in tokens.' }),
    deficit: Integer.meta({ description: 'Tokens that are owed; the next ones that are bought settle it.' }),
    monetization_status: Integer,
  })
  .meta({ id: 'Wallet' });

export const getUserWallet = operation({
  id: 'get-user-wallet',
  tag: 'Me',
  method: 'GET',
  path: '/me/wallets',
  says: 'Shows the tokens that the person has in a game. A wallet from which the person could buy nothing is refused with the reason.',
  access: user('read', 'money'),
  query: z.object({ game_id: Id }),
  returns: ok(WalletObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MONETIZATION_TEAM_NOT_FOUND',
    'USER_UNVERIFIED_ACCOUNTS',
    'MONETIZATION_AUTH_ERROR',
    'MONETIZATION_ACCOUNT_ERROR',
    'MONETIZATION_WALLET_ERROR',
  ],
  handle: async (app, { caller, query }) => {
    const wallet = await showWallet(app, caller, query.game_id);
    return {
      type: 'standard_mio',
      payment_method_id: paymentMethodOf(app, wallet.userId, wallet.gameId),
      game_id: String(wallet.gameId),
      currency: 'mio',
      balance: wallet.balance,
      pending_balance: wallet.pending,
      deficit: wallet.deficit,
      monetization_status: wallet.monetizationStatus,
    };
  },
});

export const walletOperations = [getUserWallet];
