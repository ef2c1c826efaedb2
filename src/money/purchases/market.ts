import { teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { type Sellers, sellersNow } from '../revenue-teams/revenue-teams.ts';
import { type DatedTerms, termsOf } from '../terms/terms.ts';
import * as store from './store.ts';

/** The game of a sale, as far as a sale needs it. */
export interface MarketGame {
  readonly id: number;
  readonly name: string;
  readonly token_name: string;
  readonly monetization_options: number;
}

/** The mod of a sale, as far as a sale needs it. */
export type MarketMod = store.MarketRow;

/** What decides whether a user can buy a mod. */
export interface Market {
  readonly game: MarketGame;
  readonly mod: MarketMod;
  readonly buyerName: string;
  readonly hasLiveFile: boolean;
  readonly isBuyerLocked: boolean;
  readonly isSellerLocked: boolean;
  readonly isOwned: boolean;
  readonly isSubscribed: boolean;
  /** The level of the buyer in the team of the mod, as a member and not as staff. */
  readonly level: number;
  readonly terms: DatedTerms;
  readonly shares: Sellers['shares'];
  readonly areSellersGone: boolean;
}

/**
 * Reads everything at once: the statements leave in one packet. It judges nothing, because a repeated request gets its
 * first response whatever has changed since. Undefined for a mod that does not exist.
 */
export async function readMarket(
  transaction: Transaction,
  buyer: UserCaller,
  { gameId, modId }: { readonly gameId: number; readonly modId: number },
): Promise<Market | undefined> {
  const [mod, terms, sellers, level] = await answersTo([
    store.market(transaction, buyer.userId, modId),
    termsOf(transaction, gameId),
    sellersNow(transaction, modId),
    teamLevel(transaction, { ...buyer, admin: false }, 'mods', modId),
  ]);
  if (!mod) return undefined;
  return {
    game: {
      id: mod.game_id,
      name: mod.game_name,
      token_name: mod.token_name,
      monetization_options: mod.game_monetization_options,
    },
    mod,
    buyerName: mod.buyer_name,
    hasLiveFile: mod.has_file === 1,
    isBuyerLocked: mod.buyer_locked === 1,
    isSellerLocked: mod.seller_locked === 1,
    isOwned: mod.is_owned === 1,
    isSubscribed: mod.is_subscribed === 1,
    level,
    terms,
    shares: sellers.shares,
    areSellersGone: sellers.areGone,
  };
}
