import { requireGameRow } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { linkedId } from '../../signin/portals/accounts.ts';
import { balancesOf, tokenAccount } from '../ledger/ledger.ts';
import { packsInStore } from '../packs/packs.ts';
import { requireSelling } from '../terms/switches.ts';
import { termsOf } from '../terms/terms.ts';
import { type Entitlement, type Proof, type StorePortal, StoreRefusal, StoreUnavailable } from './adapter.ts';
import { creditPurchase } from './crediting.ts';
import { storeSettingsFor } from './settings.ts';
import { isSimulating, simulatedStore } from './simulated.ts';
import * as store from './store.ts';
import { STORES } from './stores.ts';
import {
  duePurchases,
  type Intending,
  retry,
  type Selling,
  type Spent,
  type Synced,
  spendPurchase,
  syncPurchases,
} from './syncing.ts';

export type { Spent } from './syncing.ts';

/** What a client says about whose purchases it means. */
export interface StoreRequest {
  readonly gameId: number;
  readonly portal: StorePortal;
  readonly proof: Proof;
}

interface StoreSelling extends Selling {
  readonly isSimulated: boolean;
}

/** Undefined if the game does not sell at the store. */
async function sellingAt(app: App, gameId: number, portal: StorePortal): Promise<StoreSelling | undefined> {
  const settings = await storeSettingsFor(app, gameId, portal);
  if (!settings && !isSimulating(app)) return undefined;
  const packs = await packsInStore(app, gameId, portal);
  const { terms } = await termsOf(app.db, gameId);
  return {
    asking: { app, gameId, settings: settings ?? {}, skus: [...packs.keys()] },
    portal,
    adapter: settings ? STORES[portal] : simulatedStore(portal),
    isSimulated: !settings,
    packs,
    unitsPerDayMax: terms.store_packs_per_day || undefined,
    credit: creditPurchase,
  };
}

async function requireSellingAt(app: App, caller: UserCaller, { gameId, portal }: StoreRequest): Promise<StoreSelling> {
  const game = await requireGameRow(app, caller, gameId);
  requireSelling(app, game);
  const selling = await sellingAt(app, gameId, portal);
  if (!selling) throw new ApiError('MONETIZATION_IAP_NOT_CONFIGURED');
  return selling;
}

/** The account at the store. The simulated store knows the users of this service. */
const buyerOf = async (app: App, { userId }: UserCaller, { isSimulated, asking: { gameId }, portal }: StoreSelling) =>
  isSimulated ? String(userId) : linkedId(app.db.query, userId, portal, gameId);

export interface Brought {
  readonly synced: readonly Synced[];
  readonly balance: number;
}

/** Turns what the caller has bought at a store into tokens. */
export async function bringPurchases(app: App, caller: UserCaller, request: StoreRequest): Promise<Brought> {
  const selling = await requireSellingAt(app, caller, request);
  const { gameId, proof } = request;
  const linked = await buyerOf(app, caller, selling);
  const synced = await asking(() => syncPurchases(selling, caller.userId, proof, linked));
  const [balance = 0] = await balancesOf(app.db, [tokenAccount('wallet', gameId, caller.userId)]);
  return { synced, balance };
}

/** Consumes one purchase of a product for what `intending` records. */
export async function spend(
  app: App,
  caller: UserCaller,
  request: StoreRequest,
  sku: string,
  intending: Intending,
): Promise<Spent> {
  const selling = await requireSellingAt(app, caller, request);
  const linked = await buyerOf(app, caller, selling);
  return asking(async () => {
    const session = await selling.adapter.open(selling.asking, request.proof, linked);
    return spendPurchase(selling, caller.userId, session, sku, intending);
  }, 'MONETIZATION_AUTH_ERROR');
}

/** What became of a purchase that was to be consumed. The store is asked again where its answer was lost. */
export async function settleSpent(
  app: App,
  caller: UserCaller,
  request: StoreRequest,
  fulfilmentId: number,
): Promise<Spent> {
  const row = await store.fulfilmentById(app.db.query, fulfilmentId);
  if (row?.state !== 'pending') return row?.state === 'fulfilled' ? 'fulfilled' : 'failed';
  const selling = await requireSellingAt(app, caller, request);
  const linked = await buyerOf(app, caller, selling);
  return asking(async () => {
    const session = await selling.adapter.open(selling.asking, request.proof, linked);
    return (await retry(selling, row, session)).state;
  }, 'MONETIZATION_AUTH_ERROR');
}

export interface Available {
  readonly sku: string;
  /** Whether the game gives tokens for it. */
  readonly isPack: boolean;
}

/** What the caller owns at a store and has not used. */
export async function listEntitlements(app: App, caller: UserCaller, request: StoreRequest): Promise<Available[]> {
  const selling = await requireSellingAt(app, caller, request);
  const { packs, adapter, asking: store } = selling;
  const linked = await buyerOf(app, caller, selling);
  const owned = await asking(async () => {
    const session = await adapter.open(store, request.proof, linked);
    return adapter.list(store, session);
  });
  const isOwned = ({ state }: Entitlement) => state === 'owned';
  return owned.filter(isOwned).map(({ sku }) => ({ sku, isPack: packs.has(sku) }));
}

/** Each way in which a store can refuse has its own error. */
async function asking<T>(
  work: () => Promise<T>,
  rejected: 'MONETIZATION_REQUEST_ERROR' | 'MONETIZATION_AUTH_ERROR' = 'MONETIZATION_REQUEST_ERROR',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreUnavailable)
      throw new ApiError('MONETIZATION_PORTAL_CONSUME_FAILED', {
        fields: [{ field: 'portal', rule: 'unavailable' }],
        cause: error,
      });
    if (!(error instanceof StoreRefusal)) throw error;
    if (error.about === 'link') throw new ApiError('USER_CONNECTION_MEMBER_NOT_FOUND', { cause: error });
    if (error.about === 'settings') throw new ApiError('MONETIZATION_IAP_NOT_CONFIGURED', { cause: error });
    const fields = [{ field: error.field ?? 'portal', rule: 'invalid' as const }];
    throw new ApiError(rejected, { fields, cause: error });
  }
}

const DAY = 86_400;
const RETRIED_AT_ONCE = 50;

/** Finishes purchases whose answer was lost, without their buyers; while a store is away, only some at a time. */
export async function retryDue(app: App, heartbeat: () => Promise<void>): Promise<void> {
  for (;;) {
    const due = await duePurchases(app, RETRIED_AT_ONCE);
    let settled = 0;
    for (const row of due) {
      await heartbeat();
      if ((await retriedState(app, row)) !== 'pending') settled += 1;
    }
    if (due.length < RETRIED_AT_ONCE || settled === 0) return;
  }
}

async function retriedState(app: App, row: store.FulfilmentRow): Promise<string> {
  const selling = await sellingAt(app, row.game_id, row.portal as StorePortal);
  if (selling) return (await retry(selling, row)).state;
  // A game that no longer sells at the store may do so again.
  await app.db.write(({ query }) => store.postpone(query, row, app.clock.now() + DAY));
  return row.state;
}
