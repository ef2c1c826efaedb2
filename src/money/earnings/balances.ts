import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { openBalancesOf } from '../ledger/ledger.ts';
import * as store from './store.ts';

export interface SellerBalance {
  readonly currency: string;
  /** What can be paid out. */
  readonly available: number;
  readonly deficit: number;
  readonly inTransit: number;
}

export interface SellerBalances {
  readonly gameId: number;
  readonly pendingTokens: number;
  /** When the next pending earnings clear; 0 if none are pending. */
  readonly nextClearing: number;
  readonly balances: readonly SellerBalance[];
}

const FIELDS = { earnings: 'available', earnings_deficit: 'deficit', payouts_in_transit: 'inTransit' } as const;

/** What a user has earned, game by game. */
export async function balancesOfSeller(app: App, { userId }: UserCaller): Promise<SellerBalances[]> {
  const next = new Map((await store.nextDates(app.db, userId)).map((row) => [row.game_id, Number(row.date_due)]));
  const pending = new Map<number, number>();
  const byCurrency = new Map<number, Map<string, SellerBalance>>();
  for (const { account, amount } of await openBalancesOf(app.db, userId)) {
    const { kind, gameId, currency } = account;
    if (kind === 'pending_earnings') pending.set(gameId, amount);
    if (kind !== 'earnings' && kind !== 'earnings_deficit' && kind !== 'payouts_in_transit') continue;
    const inGame = byCurrency.get(gameId) ?? new Map<string, SellerBalance>();
    const known = inGame.get(currency) ?? { currency, available: 0, deficit: 0, inTransit: 0 };
    inGame.set(currency, { ...known, [FIELDS[kind]]: Math.abs(amount) });
    byCurrency.set(gameId, inGame);
  }
  const games = [...new Set([...pending.keys(), ...byCurrency.keys()])].sort((one, other) => one - other);
  return games.map((gameId) => ({
    gameId,
    pendingTokens: pending.get(gameId) ?? 0,
    nextClearing: next.get(gameId) ?? 0,
    balances: [...(byCurrency.get(gameId)?.values() ?? [])].map((each) => ({
      ...each,
      // What is owed is not paid out.
      available: Math.max(0, each.available - each.deficit),
    })),
  }));
}
