import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { Id, Integer, page, pageOf, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { balancesOfSeller, type SellerBalances } from './balances.ts';

const EarningsObject = z
  .object({
    game_id: Id,
    pending_tokens: Integer.meta({ description: 'Earned with sales that are not older than the hold of the terms.' }),
    date_next_clearing: Timestamp.meta({ description: 'When the next of them clear; 0 if none are pending.' }),
    balances: z.array(
      z.object({
        currency: z.string(),
        available: Integer.meta({ description: 'What can be paid out, in the smallest unit of the currency.' }),
        deficit: Integer.meta({ description: 'What is owed; later earnings settle it first.' }),
        in_transit: Integer.meta({ description: 'Payouts that have neither arrived nor failed.' }),
      }),
    ),
  })
  .meta({ id: 'Earnings' });

const toEarnings = (each: SellerBalances): z.output<typeof EarningsObject> => ({
  game_id: each.gameId,
  pending_tokens: each.pendingTokens,
  date_next_clearing: each.nextClearing,
  balances: each.balances.map(({ currency, available, deficit, inTransit }) => ({
    currency,
    available,
    deficit,
    in_transit: inTransit,
  })),
});

export const getUserEarnings = operation({
  id: 'get-user-earnings',
  tag: 'Me',
  method: 'GET',
  path: '/me/earnings',
  says: 'Lists what the person has earned with mods, per game: pending, available and owed.',
  access: user('read', 'money'),
  list: pagesOnly,
  returns: ok(pageOf(EarningsObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const all = await balancesOfSeller(app, caller);
    return page(all.slice(list.offset, list.offset + list.limit).map(toEarnings), all.length, list);
  },
});

export const earningOperations = [getUserEarnings];
