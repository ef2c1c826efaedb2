import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { lock, takeAdvisoryLock } from '../../platform/database/locks.ts';
import {
  type Asking,
  type Consumption,
  type Entitlement,
  type Proof,
  type Session,
  type StoreAdapter,
  type StorePortal,
  StoreRefusal,
  StoreUnavailable,
} from './adapter.ts';
import * as store from './store.ts';

export type { FulfilmentRow } from './store.ts';

const DAY = 86_400;
/** Longer than all requests of one attempt together may take. */
const ATTEMPT_SECONDS = 120;
/** A job waits twice as long after each attempt, up to 17 hours. */
const DOUBLINGS_MAX = 9;

/** The game, the store and what happens with a purchase, independent of a user. */
export interface Selling {
  readonly asking: Asking;
  readonly portal: StorePortal;
  readonly adapter: StoreAdapter;
  /** What the game sells at the store, by SKU. */
  readonly packs: ReadonlyMap<string, { readonly id: number; readonly tokens: number }>;
  /** How many units one user may consume within a day. */
  readonly unitsPerDayMax?: number | undefined;
  /** Credits the tokens in the transaction that records the consumption, and returns the id of the posting. */
  readonly credit: (app: App, transaction: Transaction, fulfilment: store.FulfilmentRow) => Promise<number>;
}

/** `pending`: the store did not answer, or has not been paid yet. `limited`: the user has consumed enough for today. */
export type Fulfilment = 'fulfilled' | 'pending' | 'failed' | 'limited';

export interface Synced {
  readonly reference: string;
  readonly sku: string;
  readonly state: Fulfilment;
  readonly tokens: number;
  /** The posting that credited the tokens; 0 where none did. */
  readonly transactionId: number;
}

/**
 * Consumes all purchases of a user that the game sells something for, each exactly once. The intent is committed before
 * the store is asked and the outcome after it, so a crash or a lost answer in between leaves a pending purchase.
 */
export async function syncPurchases(
  selling: Selling,
  userId: number,
  proof: Proof,
  linked: string | undefined,
): Promise<Synced[]> {
  const { asking, adapter } = selling;
  const session = await adapter.open(asking, proof, linked);
  const synced = await retryPending(selling, userId, session);
  const listed = await adapter.list(asking, session);
  const known = new Set(synced.map(({ reference }) => reference));
  for (const entitlement of listed) {
    // A store may list a purchase twice.
    if (known.has(entitlement.reference) || !isSold(selling, entitlement)) continue;
    known.add(entitlement.reference);
    const fulfilled = await fulfil(selling, userId, session, entitlement);
    if (fulfilled) synced.push(fulfilled);
  }
  return synced;
}

/** Records an intent together with what the purchase is to pay for. An error keeps the purchase from being consumed. */
export type Intending = (
  transaction: Transaction,
  record: () => Promise<store.FulfilmentRow | 'limited' | undefined>,
) => Promise<store.FulfilmentRow | 'limited' | undefined>;

/** `unpaid`: the store waits for the money. `claimed`: another account here has used it. `missing`: there is none. */
export type Spent = Fulfilment | 'unpaid' | 'claimed' | 'missing';

/** Consumes one purchase of a product that nobody has used here. */
export async function spendPurchase(
  selling: Selling,
  userId: number,
  session: Session,
  sku: string,
  intending: Intending,
): Promise<Spent> {
  const { asking, adapter, portal } = selling;
  const { app } = asking;
  const listed = (await adapter.list(asking, session)).filter((each) => each.sku === sku && isSold(selling, each));
  let spent: Spent = listed.some(({ state }) => state === 'pending') ? 'unpaid' : 'missing';
  for (const entitlement of listed.filter(({ state }) => state === 'owned')) {
    const intended = await app.db.write((transaction) =>
      intending(transaction, () => intend(selling, transaction, userId, session, entitlement)),
    );
    if (intended === 'limited') return 'limited';
    if (intended) return (await attempt(selling, intended, session)).state;
    const known = await store.fulfilmentOf(app.db.query, portal, entitlement.reference);
    if (known?.user_id !== userId) spent = 'claimed';
  }
  return spent;
}

const isSold = ({ packs }: Selling, { sku, kind }: Entitlement) => kind === 'consumable' && packs.has(sku);

const unfulfilled = ({ reference, sku }: Entitlement, state: Fulfilment): Synced => ({
  reference,
  sku,
  state,
  tokens: 0,
  transactionId: 0,
});

const syncedOf = ({ reference, sku, state, tokens, transaction_id }: store.FulfilmentRow): Synced => ({
  reference,
  sku,
  state: state === 'fulfilled' || state === 'pending' ? state : 'failed',
  tokens: state === 'fulfilled' ? tokens : 0,
  transactionId: state === 'fulfilled' ? transaction_id : 0,
});

async function fulfil(
  selling: Selling,
  userId: number,
  session: Session,
  entitlement: Entitlement,
): Promise<Synced | undefined> {
  if (entitlement.state === 'pending') return unfulfilled(entitlement, 'pending');
  // What was consumed or revoked without an intent of ours was used elsewhere.
  if (entitlement.state !== 'owned') return undefined;
  const { asking, portal } = selling;
  const { app, gameId } = asking;
  const intended = await app.db.write((transaction) => intend(selling, transaction, userId, session, entitlement));
  if (intended === 'limited') return unfulfilled(entitlement, 'limited');
  if (intended) return attempt(selling, intended, session);
  const before = await store.fulfilmentOf(app.db.query, portal, entitlement.reference);
  // Another account has claimed the purchase; its outcome is not this user's business.
  if (!before || before.user_id !== userId || before.game_id !== gameId) return unfulfilled(entitlement, 'failed');
  // The store refused before and still lists the purchase: whatever was wrong may be repaired.
  if (before.state === 'failed') return retry(selling, before, session);
  return syncedOf(before);
}

/** Records what is about to be consumed; undefined if the purchase is known already. */
async function intend(
  selling: Selling,
  transaction: Transaction,
  userId: number,
  session: Session,
  { reference, sku, quantity, handle }: Entitlement,
): Promise<store.FulfilmentRow | 'limited' | undefined> {
  const { asking, portal, packs } = selling;
  const { app, gameId } = asking;
  const pack = packs.get(sku)!;
  const now = app.clock.now();
  if (await isOverLimit(selling, transaction, userId, reference, quantity)) return 'limited';
  return store.addFulfilment(transaction.query, {
    portal,
    reference,
    game_id: gameId,
    user_id: userId,
    pack_id: pack.id,
    sku,
    quantity,
    tokens: pack.tokens * quantity,
    transaction_id: 0,
    state: 'pending',
    attempt_key: app.random.uuid(),
    tries: 1,
    handle: JSON.stringify(handle),
    session: seal(app, portal, reference, session),
    date_added: now,
    date_tried: now,
    date_due: now + ATTEMPT_SECONDS,
    date_settled: 0,
  });
}

/** Decided before anything is consumed, so that the purchase is still there tomorrow. */
async function isOverLimit(
  { asking, portal, unitsPerDayMax }: Selling,
  transaction: Transaction,
  userId: number,
  reference: string,
  quantity: number,
): Promise<boolean> {
  if (unitsPerDayMax === undefined) return false;
  const { app, gameId } = asking;
  await takeAdvisoryLock(transaction, `stores/${portal}/${gameId}/${userId}`);
  if (await store.fulfilmentOf(transaction.query, portal, reference)) return false;
  const units = await store.unitsSince(transaction.query, { userId, gameId, portal }, app.clock.now() - DAY);
  return units + quantity > unitsPerDayMax;
}

/** Purchases of the user whose outcome is unknown, asked about again with the session of this request. */
async function retryPending(selling: Selling, userId: number, session: Session): Promise<Synced[]> {
  const { asking, portal } = selling;
  const rows = await store.pendingOf(asking.app.db.query, userId, asking.gameId, portal);
  const synced: Synced[] = [];
  for (const row of rows) synced.push(await retry(selling, row, session));
  return synced;
}

/** Asks the store about a purchase again, with the stored session unless there is a newer one of the same buyer. */
export async function retry(selling: Selling, row: store.FulfilmentRow, newer?: Session): Promise<Synced> {
  const { app } = selling.asking;
  const now = app.clock.now();
  const waiting = syncedOf({ ...row, state: 'pending' });
  // The attempt that is under way knows more than a second one would.
  if (row.state === 'pending' && row.date_tried > now - ATTEMPT_SECONDS) return waiting;
  const session = sessionFor(app, row, newer);
  const begun = await app.db.write(({ query }) =>
    store.beginAttempt(query, row, {
      date_tried: now,
      date_due: now + ATTEMPT_SECONDS * 2 ** Math.min(row.tries, DOUBLINGS_MAX),
      session: seal(app, row.portal, row.reference, session),
    }),
  );
  return begun ? attempt(selling, begun, session) : waiting;
}

/**
 * Another account at the store does not have the purchase, which would look as if it were consumed. A settled row has no
 * session; it is retried only for the account that has just listed the purchase.
 */
function sessionFor(app: App, row: store.FulfilmentRow, newer: Session | undefined): Session {
  if (newer && row.session === '') return newer;
  const stored = unseal(app, row);
  return newer && newer.buyer !== '' && newer.buyer === stored.buyer ? newer : stored;
}

/** Pending purchases that a job may retry, the longest due first. */
export const duePurchases = (app: App, limit: number): Promise<store.FulfilmentRow[]> =>
  store.pendingDue(app.db.query, app.clock.now(), limit);

async function attempt(selling: Selling, row: store.FulfilmentRow, session: Session): Promise<Synced> {
  try {
    return await record(selling, row, await consume(selling, row, session, entitlementOf(row)));
  } catch (error) {
    // Whatever the store did, a later attempt finds out.
    if (error instanceof StoreUnavailable || error instanceof StoreRefusal) return syncedOf(row);
    throw error;
  }
}

async function consume(
  { asking, adapter }: Selling,
  { tries, attempt_key }: store.FulfilmentRow,
  session: Session,
  entitlement: Entitlement,
): Promise<Consumption> {
  if (tries === 1 || adapter.retry === 'same-key') return adapter.consume(asking, session, entitlement, attempt_key);
  const state = await adapter.verify(asking, session, entitlement);
  // Only this service may consume what it has recorded an intent for, so an earlier attempt did it.
  if (state === 'consumed') return 'consumed';
  if (state !== 'owned') return 'not-owned';
  const outcome = await adapter.consume(asking, session, entitlement, attempt_key);
  // A slow earlier attempt may have consumed it after we looked.
  if (outcome === 'not-owned') throw new StoreUnavailable('the state changed between two requests');
  return outcome;
}

async function record({ asking, credit }: Selling, row: store.FulfilmentRow, outcome: Consumption): Promise<Synced> {
  const { app } = asking;
  return app.db.write(async (transaction) => {
    // A job has no caller that the request would lock, and an account that has ended gets nothing any more.
    const [user] = await lock(transaction, [{ kind: 'users', id: row.user_id, mode: 'under' }]);
    const state = outcome !== 'not-owned' && user && !user.isGone ? 'fulfilled' : 'failed';
    const handle = typeof outcome === 'object' ? JSON.stringify(outcome.handle) : row.handle;
    const settled = await store.settle(transaction.query, { ...row, handle }, state, app.clock.now());
    // A later attempt has taken over and decides.
    if (!settled) return syncedOf(row);
    if (state === 'failed') return syncedOf(settled);
    const transaction_id = await credit(app, transaction, settled);
    await store.setPosting(transaction.query, settled.id, transaction_id);
    return syncedOf({ ...settled, transaction_id });
  });
}

const entitlementOf = ({ reference, sku, quantity, handle }: store.FulfilmentRow): Entitlement => ({
  reference,
  sku,
  kind: 'consumable',
  quantity,
  state: 'owned',
  handle: JSON.parse(handle),
});

/** The reference is sealed with the session, so that a session is of no use in another row. */
const purposeOf = (portal: string) => `stores/session/${portal}`;
const seal = (app: App, portal: string, reference: string, session: Session) =>
  app.secrets.seal(purposeOf(portal), JSON.stringify({ reference, session }));

function unseal(app: App, row: store.FulfilmentRow): Session {
  const { reference, session } = JSON.parse(app.secrets.unseal(purposeOf(row.portal), row.session));
  if (reference !== row.reference) throw new Error(`the session of fulfilment ${row.id} belongs to another one`);
  return session;
}
