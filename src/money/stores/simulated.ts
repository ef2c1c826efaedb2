import { requireGameRow } from '../../catalogue/games/games.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { findPackBySku } from '../packs/packs.ts';
import { requireSelling } from '../terms/switches.ts';
import {
  type Asking,
  type Entitlement,
  type Session,
  type StoreAdapter,
  type StorePortal,
  StoreUnavailable,
} from './adapter.ts';
import { handleNotification } from './notifications.ts';
import * as store from './store.ts';

export type { SimulatedPurchase } from './store.ts';

/** What the simulated store does wrong once: it is out of order, or it consumes and its answer is lost. */
export const FAULTS = ['none', 'busy', 'lost_answer'] as const;
export type SimulatedFault = (typeof FAULTS)[number];

/** In the sandbox unless switched off; in production only where the operator says so. */
export function isSimulating({ settings, environment }: App): boolean {
  return settings.stores === 'simulated' || (settings.stores === 'default' && environment === 'sandbox');
}

/**
 * A store without money, for a portal that the game has not configured. Players buy by a request, and everything after
 * that is as with a real store. Buyers are users of this service, so no account has to be linked.
 */
export const simulatedStore = (portal: StorePortal): StoreAdapter => ({
  retry: 'same-key',
  open: async (_asking, _proof, linked) => ({ buyer: linked ?? '', tokens: {} }),
  list: (asking, session) => purchasesOf(asking, portal, session),
  verify: async (asking, session, { reference }) => {
    const purchases = await purchasesOf(asking, portal, session);
    return purchases.find((each) => each.reference === reference)?.state ?? 'revoked';
  },
  consume: ({ app }, _session, { handle }, key) => consume(app, Number(handle['id']), key),
});

const referenceOf = ({ id }: store.SimulatedPurchase) => `simulated/${id}`;

async function purchasesOf({ app, gameId }: Asking, portal: StorePortal, { buyer }: Session): Promise<Entitlement[]> {
  const rows = await store.simulatedOf(app.db.query, { userId: Number(buyer), gameId, portal });
  return rows.map((row) => ({
    reference: referenceOf(row),
    sku: row.sku,
    kind: 'consumable',
    quantity: row.quantity,
    state: row.state,
    handle: { id: String(row.id) },
  }));
}

async function consume(app: App, id: number, key: string): Promise<'consumed' | 'not-owned'> {
  const done = await app.db.write(async ({ query }) => {
    const row = await store.simulatedById(query, id);
    if (row?.state !== 'owned') return row?.consumption_key === key ? 'consumed' : 'not-owned';
    const { fault } = row;
    const isConsumed = fault !== 'busy';
    const changes = { fault: '', ...(isConsumed && { state: 'consumed' as const, consumption_key: key }) };
    if (!(await store.changeSimulated(query, row, changes))) return 'busy';
    return fault === '' ? 'consumed' : fault;
  });
  if (done === 'consumed' || done === 'not-owned') return done;
  throw new StoreUnavailable(`the simulated store is ${done}`);
}

export interface SimulatedOrder {
  readonly gameId: number;
  readonly portal: StorePortal;
  readonly sku: string;
  readonly quantity: number;
  readonly fault: SimulatedFault;
  /** Whether the buyer pays later. */
  readonly isPending: boolean;
}

/** Buys at the simulated store, as a player would buy in a real one. */
export async function buySimulated(
  app: App,
  caller: UserCaller,
  { gameId, portal, sku, quantity, fault, isPending }: SimulatedOrder,
): Promise<store.SimulatedPurchase> {
  const game = await requireGameRow(app, caller, gameId);
  requireSelling(app, game);
  return app.db.write(async (transaction) => {
    const { query } = transaction;
    if (!isSimulating(app) || (await store.settingsOf(query, gameId, portal)))
      throw new ApiError('MONETIZATION_IAP_NOT_CONFIGURED');
    if (!(await findPackBySku(transaction, gameId, portal, sku)))
      throw new ApiError('MONETIZATION_SKU_MISSING', { fields: [{ field: 'sku', rule: 'invalid' }] });
    return store.addSimulated(query, {
      game_id: gameId,
      portal,
      user_id: caller.userId,
      sku,
      quantity,
      state: isPending ? 'pending' : 'owned',
      fault: fault === 'none' ? '' : fault,
      consumption_key: '',
      date_added: app.clock.now(),
    });
  });
}

interface PurchaseName {
  readonly gameId: number;
  readonly portal: StorePortal;
  readonly id: number;
}

async function requirePurchase(app: App, caller: UserCaller, { gameId, portal, id }: PurchaseName) {
  await requireGameRow(app, caller, gameId);
  const purchase = await store.simulatedById(app.db.query, id);
  const isMeant = purchase?.game_id === gameId && purchase.portal === portal;
  if (!isMeant || purchase.user_id !== caller.userId) throw new ApiError('RESOURCE_NOT_FOUND');
  return purchase;
}

/** The buyer pays for a pending purchase. */
export async function paySimulated(app: App, caller: UserCaller, name: PurchaseName) {
  const purchase = await requirePurchase(app, caller, name);
  if (purchase.state !== 'pending') return purchase;
  const paid = await app.db.write(({ query }) => store.changeSimulated(query, purchase, { state: 'owned' }));
  return paid ?? requirePurchase(app, caller, name);
}

/** The store gives the money back and tells this service, which takes the tokens back. */
export async function refundSimulated(app: App, caller: UserCaller, name: PurchaseName) {
  const purchase = await requirePurchase(app, caller, name);
  const revoked = await app.db.write(({ query }) => store.changeSimulated(query, purchase, { state: 'revoked' }));
  const reference = referenceOf(purchase);
  await handleNotification(app, {
    portal: name.portal,
    id: reference,
    gameIds: [name.gameId],
    reversed: { reference },
  });
  return revoked ?? requirePurchase(app, caller, name);
}
