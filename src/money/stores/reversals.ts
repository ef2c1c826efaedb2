import type { App } from '../../platform/app.ts';
import { type KnownPurchase, type StorePortal, StoreRefusal, StoreUnavailable } from './adapter.ts';
import { handleNotification } from './notifications.ts';
import { gamesSellingAt } from './settings.ts';
import * as store from './store.ts';
import { STORES } from './stores.ts';

/** How long a purchase is asked about. */
const ASKED_SECONDS = 60 * 86_400;

/** Asks the stores that send no notifications which purchases they have taken back, and takes their tokens back. */
export async function takeReversedBack(app: App, heartbeat: () => Promise<void>): Promise<void> {
  for (const [portal, adapter] of Object.entries(STORES) as [StorePortal, (typeof STORES)[StorePortal]][]) {
    if (!adapter.reversals) continue;
    for (const { gameId, settings } of await gamesSellingAt(app, portal)) {
      await heartbeat();
      const known = await knownAt(app, gameId, portal);
      if (known.length === 0) continue;
      try {
        const { references, acknowledge } = await adapter.reversals({ app, gameId, settings, skus: [] }, known);
        for (const reference of references) await takeBack(app, gameId, portal, reference);
        await acknowledge?.();
      } catch (error) {
        // The next run asks again, and the stores of other games are asked now.
        if (!(error instanceof StoreUnavailable) && !(error instanceof StoreRefusal)) throw error;
        app.log.warn('a store was not asked for refunds; the next run asks again', { portal, game: gameId, error });
      }
    }
  }
}

const takeBack = (app: App, gameId: number, portal: StorePortal, reference: string): Promise<boolean> =>
  handleNotification(app, { portal, id: `reversal/${reference}`, gameIds: [gameId], reversed: { reference } });

async function knownAt(app: App, gameId: number, portal: StorePortal): Promise<KnownPurchase[]> {
  const rows = await store.fulfilledSince(app.db.query, gameId, portal, app.clock.now() - ASKED_SECONDS);
  return rows.map(({ reference, sku, quantity, handle, date_added: date }) => ({
    reference,
    sku,
    quantity,
    handle: JSON.parse(handle),
    date,
  }));
}
