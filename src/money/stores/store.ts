import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import { takesBack } from '../../platform/database/reversals.ts';
import type { SimulatedPurchasesTable, StoreFulfilmentsTable, StoreSettingsTable } from './table.ts';

export type SettingsRow = Selectable<StoreSettingsTable>;
export type FulfilmentRow = Selectable<StoreFulfilmentsTable>;
export type SimulatedPurchase = Selectable<SimulatedPurchasesTable>;

export const settingsOf = (query: Query, gameId: number, portal: string): Promise<SettingsRow | undefined> =>
  query
    .selectFrom('store_settings')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .executeTakeFirst();

export const settingsOfApp = (query: Query, portal: string, storeApp: string): Promise<SettingsRow[]> =>
  query
    .selectFrom('store_settings')
    .selectAll()
    .where('portal', '=', portal)
    .where('store_app', '=', storeApp)
    .orderBy('game_id')
    .execute();

export const settingsAt = (query: Query, portal: string): Promise<SettingsRow[]> =>
  query.selectFrom('store_settings').selectAll().where('portal', '=', portal).orderBy('game_id').execute();

export const allSettingsOf = (query: Query, gameId: number): Promise<SettingsRow[]> =>
  query.selectFrom('store_settings').selectAll().where('game_id', '=', gameId).orderBy('portal').execute();

export async function putSettings(query: Query, row: SettingsRow): Promise<void> {
  const { game_id: _, portal: __, ...changed } = row;
  await query
    .insertInto('store_settings')
    .values(row)
    .onConflict((conflict) => conflict.columns(['game_id', 'portal']).doUpdateSet(changed))
    .execute();
}

export async function removeSettings(query: Query, gameId: number, portal: string): Promise<boolean> {
  const { numDeletedRows } = await query
    .deleteFrom('store_settings')
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Undefined if the purchase is known already. */
export const addFulfilment = (
  query: Query,
  row: Insertable<StoreFulfilmentsTable>,
): Promise<FulfilmentRow | undefined> =>
  query
    .insertInto('store_fulfilments')
    .values(row)
    .onConflict((conflict) => conflict.columns(['portal', 'reference']).doNothing())
    .returningAll()
    .executeTakeFirst();

export const fulfilmentOf = (query: Query, portal: string, reference: string): Promise<FulfilmentRow | undefined> =>
  query
    .selectFrom('store_fulfilments')
    .selectAll()
    .where('portal', '=', portal)
    .where('reference', '=', reference)
    .executeTakeFirst();

export const fulfilmentById = (query: Query, id: number): Promise<FulfilmentRow | undefined> =>
  query.selectFrom('store_fulfilments').selectAll().where('id', '=', id).executeTakeFirst();

export const pendingOf = (query: Query, userId: number, gameId: number, portal: string): Promise<FulfilmentRow[]> =>
  query
    .selectFrom('store_fulfilments')
    .selectAll()
    .where('user_id', '=', userId)
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .where('state', '=', sql.lit('pending'))
    .orderBy('id')
    .execute();

export const pendingDue = (query: Query, now: number, limit: number): Promise<FulfilmentRow[]> =>
  query
    .selectFrom('store_fulfilments')
    .selectAll()
    .where('state', '=', sql.lit('pending'))
    .where('date_due', '<=', now)
    .orderBy('date_due')
    .limit(limit)
    .execute();

/** Begins a further attempt, unless another process has begun one since the row was read. */
export const beginAttempt = (
  query: Query,
  { id, tries, state }: FulfilmentRow,
  attempt: Pick<FulfilmentRow, 'date_tried' | 'date_due' | 'session'>,
): Promise<FulfilmentRow | undefined> =>
  query
    .updateTable('store_fulfilments')
    .set({ ...attempt, tries: tries + 1, state: 'pending', date_settled: 0 })
    .where('id', '=', id)
    .where('tries', '=', tries)
    .where('state', '=', state)
    .returningAll()
    .executeTakeFirst();

/** Leaves a pending purchase until then, without an attempt. */
export const postpone = (query: Query, { id, tries }: FulfilmentRow, until: number) =>
  query
    .updateTable('store_fulfilments')
    .set({ date_due: until })
    .where('id', '=', id)
    .where('tries', '=', tries)
    .where('state', '=', sql.lit('pending'))
    .execute();

/** Records the outcome of an attempt; undefined if a later attempt has begun or the purchase is settled. */
export const settle = (
  query: Query,
  { id, tries, handle }: FulfilmentRow,
  state: string,
  now: number,
): Promise<FulfilmentRow | undefined> =>
  query
    .updateTable('store_fulfilments')
    .set({ state, handle, session: '', date_settled: now })
    .where('id', '=', id)
    .where('tries', '=', tries)
    .where('state', '=', sql.lit('pending'))
    .returningAll()
    .executeTakeFirst();

export const setPosting = (query: Query, id: number, transactionId: number) =>
  query.updateTable('store_fulfilments').set({ transaction_id: transactionId }).where('id', '=', id).execute();

interface Buyer {
  readonly userId: number;
  readonly gameId: number;
  readonly portal: string;
}

/** The units that a user has consumed, or is about to consume. */
export async function unitsSince(query: Query, { userId, gameId, portal }: Buyer, since: number): Promise<number> {
  const { units } = await query
    .selectFrom('store_fulfilments')
    .select((eb) => eb.fn.sum<number | string | null>('quantity').as('units'))
    .where('user_id', '=', userId)
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .where('date_added', '>', since)
    .where('state', '<>', 'failed')
    .executeTakeFirstOrThrow();
  return Number(units ?? 0);
}

export const fulfilledSince = (query: Query, gameId: number, portal: string, since: number) =>
  query
    .selectFrom('store_fulfilments')
    .select(['reference', 'sku', 'quantity', 'handle', 'date_added'])
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .where('state', '=', 'fulfilled')
    .where('date_added', '>', since)
    .execute();

/** Takes a purchase back: true for the first caller alone. A pending one can no longer be fulfilled. */
export async function reverse(query: Query, { id, state }: FulfilmentRow, now: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('store_fulfilments')
    .set({ state: 'reversed', session: '', date_settled: now })
    .where('id', '=', id)
    .where('state', '=', state)
    .where('state', 'in', ['fulfilled', 'pending'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The same, until the transaction ends. */
const FULFILMENT_FOR_CHANGE = withUpdateLock(
  statement('select * from store_fulfilments where portal = ? and reference = ?'),
);

export const lockFulfilmentOf = async (
  transaction: Transaction,
  portal: string,
  reference: string,
): Promise<FulfilmentRow | undefined> => transaction.first<FulfilmentRow>(FULFILMENT_FOR_CHANGE, [portal, reference]);

export const hasPending = async ({ query }: Transaction, userId: number): Promise<boolean> =>
  (await query
    .selectFrom('store_fulfilments')
    .select('id')
    .where('user_id', '=', userId)
    .where('state', '=', sql.lit('pending'))
    .executeTakeFirst()) !== undefined;

export const giveUpPending = ({ query }: Transaction, userId: number, now: number) =>
  query
    .updateTable('store_fulfilments')
    .set({ state: 'failed', session: '', date_settled: now })
    .where('user_id', '=', userId)
    .where('state', '=', sql.lit('pending'))
    .execute();

/** Purchases whose state disagrees with the books, for their verification. */
export const disagreeing = (query: Query) =>
  query
    .selectFrom('store_fulfilments as f')
    .leftJoin('ledger_transactions as t', 't.id', 'f.transaction_id')
    .leftJoin('ledger_transactions as r', (join) => join.on(takesBack('r', 't.id')))
    .select(['f.id', 'f.state'])
    .where((eb) =>
      eb.or([
        eb.and([eb('f.state', 'in', ['pending', 'failed']), eb('t.id', 'is not', null)]),
        eb.and([eb('f.state', '=', 'fulfilled'), eb.or([eb('t.id', 'is', null), eb('r.id', 'is not', null)])]),
        eb.and([eb('f.state', '=', 'reversed'), eb('t.id', 'is not', null), eb('r.id', 'is', null)]),
      ]),
    )
    .limit(20)
    .execute();

/** False if the notification was handled before. */
export async function addNotification(query: Query, portal: string, id: string, now: number): Promise<boolean> {
  const added = await query
    .insertInto('store_notifications')
    .values({ portal, message: id, date_added: now })
    .onConflict((conflict) => conflict.columns(['portal', 'message']).doNothing())
    .returning('message')
    .executeTakeFirst();
  return added !== undefined;
}

const OUTDATED_NOTIFICATIONS = someOf('store_notifications', ['portal', 'message'], 'date_added < ?');
export const forgetNotifications = (db: Database, before: number) =>
  removeInSteps(db, OUTDATED_NOTIFICATIONS, [before]);

export const addSimulated = (query: Query, row: Insertable<SimulatedPurchasesTable>): Promise<SimulatedPurchase> =>
  query.insertInto('simulated_purchases').values(row).returningAll().executeTakeFirstOrThrow();

export const simulatedOf = (query: Query, { userId, gameId, portal }: Buyer): Promise<SimulatedPurchase[]> =>
  query
    .selectFrom('simulated_purchases')
    .selectAll()
    .where('user_id', '=', userId)
    .where('game_id', '=', gameId)
    .where('portal', '=', portal)
    .orderBy('id')
    .execute();

export const simulatedById = (query: Query, id: number): Promise<SimulatedPurchase | undefined> =>
  query.selectFrom('simulated_purchases').selectAll().where('id', '=', id).executeTakeFirst();

/** Changes it unless another request has changed its state; undefined then. */
export const changeSimulated = (
  query: Query,
  { id, state, fault }: SimulatedPurchase,
  changes: Updateable<SimulatedPurchasesTable>,
): Promise<SimulatedPurchase | undefined> =>
  query
    .updateTable('simulated_purchases')
    .set(changes)
    .where('id', '=', id)
    .where('state', '=', state)
    .where('fault', '=', fault)
    .returningAll()
    .executeTakeFirst();
