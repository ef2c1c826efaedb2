import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { IN_GAME, type ModInGame } from '../../platform/database/mods-in-games.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import { insertReserved } from '../../platform/database/reserved-ids.ts';
import { takesBack } from '../../platform/database/reversals.ts';
import type { IdempotentRequestsTable, ModOrdersTable, PurchasesTable, StoreOrdersTable } from './table.ts';

export type PurchaseRow = Selectable<PurchasesTable>;
type Reader = Pick<Database, 'first'>;

const STANDING = statement("select * from purchases where user_id = ? and mod_id = ? and status = 'paid'");
export const standing = (reader: Reader, userId: number, modId: number) =>
  reader.first<PurchaseRow>(STANDING, [userId, modId]);

/** A mod with its game and its buyer, as a sale needs them. Flags are 0 or 1. */
export interface MarketRow extends ModInGame {
  readonly name: string;
  readonly game_monetization_options: number;
  readonly game_name: string;
  readonly token_name: string;
  readonly buyer_name: string;
  readonly has_file: number;
  readonly buyer_locked: number;
  readonly seller_locked: number;
  readonly is_owned: number;
  readonly is_subscribed: number;
}

const flag = (condition: string, name: string) => `case when exists (${condition}) then 1 else 0 end as ${name}`;
const MARKET =
  statement(`select ${IN_GAME}, m.name, g.monetization_options as game_monetization_options, g.name as game_name,
    g.token_name, u.username as buyer_name,
    ${flag('select 1 from mod_live_files l where l.mod_id = m.id', 'has_file')},
    ${flag('select 1 from marketplace_locks k where k.user_id = u.id', 'buyer_locked')},
    ${flag('select 1 from marketplace_locks k where k.user_id = m.submitted_by', 'seller_locked')},
    ${flag("select 1 from purchases p where p.user_id = u.id and p.mod_id = m.id and p.status = 'paid'", 'is_owned')},
    ${flag('select 1 from subscriptions s where s.user_id = u.id and s.mod_id = m.id', 'is_subscribed')}
  from mods m join games g on g.id = m.game_id join users u on u.id = ? where m.id = ?`);
export const market = (transaction: Transaction, userId: number, modId: number) =>
  transaction.first<MarketRow>(MARKET, [userId, modId]);

const BY_ID = statement('select * from purchases where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<PurchaseRow>(BY_ID, [id]);
const BY_ID_LOCKED = withUpdateLock(BY_ID);
/** Others who decide over the purchase wait from here on. */
export const lockById = (transaction: Transaction, id: number) => transaction.first<PurchaseRow>(BY_ID_LOCKED, [id]);

const ADD = statement(`insert into purchases (id, user_id, game_id, mod_id, terms_id, price, fee, gateway_uuid, status,
  transaction_id, date_added, date_refunded) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`);
/** `id` is reserved on PostgreSQL. */
export async function add(
  transaction: Transaction,
  id: number | null,
  row: Omit<PurchaseRow, 'id'>,
): Promise<PurchaseRow> {
  const values = [row.user_id, row.game_id, row.mod_id, row.terms_id, row.price, row.fee, row.gateway_uuid, row.status];
  values.push(row.transaction_id, row.date_added, row.date_refunded);
  return { id: await insertReserved(transaction, ADD, id, values), ...row };
}

export const change = (query: Query, id: number, changes: Updateable<PurchasesTable>): Promise<PurchaseRow> =>
  query.updateTable('purchases').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

const REFUNDS = statement(
  "select count(*) as refunds from purchases where user_id = ? and game_id = ? and status = 'refunded' and date_refunded > ?",
);
export const refundsSince = async (reader: Reader, userId: number, gameId: number, since: number): Promise<number> =>
  Number((await reader.first<{ refunds: number }>(REFUNDS, [userId, gameId, since]))!.refunds);

const NEWEST =
  statement(`select * from purchases where user_id = ? and game_id = ? and status = 'paid' and date_added >= ?
  order by id desc limit 1`);
export const newestSince = (reader: Reader, userId: number, gameId: number, since: number) =>
  reader.first<PurchaseRow>(NEWEST, [userId, gameId, since]);

const SOLD = statement("select 1 as sold from purchases where mod_id = ? and status = 'paid' limit 1");
export const isSold = async (reader: Reader, modId: number): Promise<boolean> =>
  (await reader.first(SOLD, [modId])) !== undefined;

export type PurchaseFilter = Pick<PurchaseRow, 'game_id'> & {
  readonly [name in 'user_id' | 'mod_id' | 'status']?: PurchaseRow[name] | undefined;
};

export async function ofGame(
  query: Query,
  filter: PurchaseFilter,
  { limit, offset }: { limit: number; offset: number },
) {
  const { user_id, mod_id, status } = filter;
  const found = query
    .selectFrom('purchases')
    .where('game_id', '=', filter.game_id)
    .$if(user_id !== undefined, (some) => some.where('user_id', '=', user_id!))
    .$if(mod_id !== undefined, (some) => some.where('mod_id', '=', mod_id!))
    .$if(status !== undefined, (some) => some.where('status', '=', status!));
  const { total } = await found.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await found.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}

const KEEP = statement(`insert into idempotent_requests
  (user_id, game_id, operation, request_key, digest, response, mod_id, date_added) values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (user_id, game_id, operation, request_key) do update
  set digest = excluded.digest, response = excluded.response, mod_id = excluded.mod_id, date_added = excluded.date_added
  where idempotent_requests.date_added <= ?`);

export type RequestName = Pick<IdempotentRequestsTable, 'user_id' | 'game_id' | 'operation' | 'request_key'>;
const nameOf = ({ user_id, game_id, operation, request_key }: RequestName) => [
  user_id,
  game_id,
  operation,
  request_key,
];

/** Stores a response, in place of one that is older than `since`. */
export const keep = (transaction: Transaction, request: IdempotentRequestsTable, since: number) =>
  transaction.run(KEEP, [
    ...nameOf(request),
    request.digest,
    request.response,
    request.mod_id,
    request.date_added,
    since,
  ]);

const NAMED = 'where user_id = ? and game_id = ? and operation = ? and request_key = ?';
const ANSWERED = statement(`select digest, response from idempotent_requests ${NAMED} and date_added > ?`);
export const answered = (reader: Reader, request: RequestName, since: number) =>
  reader.first<Pick<IdempotentRequestsTable, 'digest' | 'response'>>(ANSWERED, [...nameOf(request), since]);

const RELEASE = statement('delete from idempotent_requests where user_id = ? and mod_id = ?');
/** After a refund the same key may buy the mod again. */
export const releaseKeys = (transaction: Transaction, userId: number, modId: number) =>
  transaction.run(RELEASE, [userId, modId]);

const OWNED_BY_BOTH = statement(`select * from purchases p where p.user_id = ? and p.status = 'paid' and exists
  (select 1 from purchases o where o.user_id = ? and o.mod_id = p.mod_id and o.status = 'paid') order by p.mod_id`);
export const ownedByBoth = (transaction: Transaction, one: number, other: number) =>
  transaction.all<PurchaseRow>(OWNED_BY_BOTH, [one, other]);

const MOVE_ALL = statement('update purchases set user_id = ? where user_id = ?');
export const moveAll = (transaction: Transaction, from: number, to: number) => transaction.run(MOVE_ALL, [to, from]);

const OUTDATED = someOf('idempotent_requests', ['user_id', 'game_id', 'operation', 'request_key'], 'date_added <= ?');
export const forgetUntil = (db: Database, date: number) => removeInSteps(db, OUTDATED, [date]);

export type ModOrderRow = Selectable<ModOrdersTable>;

const ORDER = statement('select * from mod_orders where payment_id = ?');
export const orderOf = (reader: Reader, paymentId: number) => reader.first<ModOrderRow>(ORDER, [paymentId]);
const ORDER_LOCKED = withUpdateLock(ORDER);
/** Others who complete the order wait from here on. */
export const lockOrder = (transaction: Transaction, paymentId: number) =>
  transaction.first<ModOrderRow>(ORDER_LOCKED, [paymentId]);

const OPEN_ORDER = statement(`select o.* from mod_orders o join payments p on p.id = o.payment_id
  where o.user_id = ? and o.mod_id = ? and o.price = ? and o.status = 'open' and p.status = 'pending' limit 1`);
export const openOrder = (reader: Reader, userId: number, modId: number, price: number) =>
  reader.first<ModOrderRow>(OPEN_ORDER, [userId, modId, price]);

const ORDER_BY_KEY = statement(`select o.* from mod_orders o join payments p on p.id = o.payment_id
  where o.user_id = ? and o.mod_id = ? and o.status in ('open', 'bought') and p.request_key = ? and p.date_added > ?
    and p.status in ('pending', 'paid') order by o.payment_id desc limit 1`);
/** The order that an earlier request with this key has begun. */
export const orderByKey = (reader: Reader, userId: number, modId: number, key: string, since: number) =>
  reader.first<ModOrderRow>(ORDER_BY_KEY, [userId, modId, key, since]);

const ORDERED = statement(`select 1 as ordered from mod_orders o join payments p on p.id = o.payment_id
  where o.mod_id = ? and o.status = 'open' and p.status in ('pending', 'paid')
  union all select 1 from store_orders o join store_fulfilments f on f.id = o.fulfilment_id
  where o.mod_id = ? and o.status = 'open' and f.state in ('pending', 'fulfilled') limit 1`);
export const isOrdered = async (reader: Reader, modId: number): Promise<boolean> =>
  (await reader.first(ORDERED, [modId, modId])) !== undefined;

/** Only orders with a purchase are in the index. */
const OF_PURCHASE = 'purchase_id = ? and purchase_id > 0';
const ORDER_BY_PURCHASE = statement(`select * from mod_orders where ${OF_PURCHASE}`);
export const orderByPurchase = (reader: Reader, purchaseId: number) =>
  reader.first<ModOrderRow>(ORDER_BY_PURCHASE, [purchaseId]);

const RETURN_ORDERS = ['mod_orders', 'store_orders'].map((table) =>
  statement(`update ${table} set status = 'returned' where ${OF_PURCHASE}`),
);
export async function returnOrder(transaction: Transaction, purchaseId: number): Promise<void> {
  for (const returned of RETURN_ORDERS) await transaction.run(returned, [purchaseId]);
}

export const addOrder = (query: Query, row: Insertable<ModOrdersTable>) =>
  query.insertInto('mod_orders').values(row).execute();
export const changeOrder = (query: Query, paymentId: number, changes: Updateable<ModOrdersTable>) =>
  query.updateTable('mod_orders').set(changes).where('payment_id', '=', paymentId).execute();

export type StoreOrderRow = Selectable<StoreOrdersTable>;

const STORE_ORDER = statement('select * from store_orders where fulfilment_id = ?');
export const storeOrderOf = (reader: Reader, fulfilmentId: number) =>
  reader.first<StoreOrderRow>(STORE_ORDER, [fulfilmentId]);
const STORE_ORDER_LOCKED = withUpdateLock(STORE_ORDER);
export const lockStoreOrder = (transaction: Transaction, fulfilmentId: number) =>
  transaction.first<StoreOrderRow>(STORE_ORDER_LOCKED, [fulfilmentId]);

const OPEN_STORE_ORDER = statement(`select o.* from store_orders o join store_fulfilments f on f.id = o.fulfilment_id
  where o.user_id = ? and o.mod_id = ? and o.status = 'open' and f.state in ('pending', 'fulfilled') limit 1`);
export const openStoreOrder = (reader: Reader, userId: number, modId: number) =>
  reader.first<StoreOrderRow>(OPEN_STORE_ORDER, [userId, modId]);

export const addStoreOrder = (query: Query, row: Insertable<StoreOrdersTable>) =>
  query.insertInto('store_orders').values(row).execute();
export const changeStoreOrder = (query: Query, fulfilmentId: number, changes: Updateable<StoreOrdersTable>) =>
  query.updateTable('store_orders').set(changes).where('fulfilment_id', '=', fulfilmentId).execute();

/** Purchases whose state disagrees with the books, for their verification. */
export const disagreeing = (query: Query) =>
  query
    .selectFrom('purchases as p')
    .leftJoin('ledger_transactions as t', 't.id', 'p.transaction_id')
    .leftJoin('ledger_transactions as r', (join) => join.on(takesBack('r', 'p.transaction_id')))
    .select(['p.id', 'p.status'])
    .where((eb) =>
      eb.or([
        eb('t.id', 'is', null),
        eb.and([eb('p.status', '=', 'paid'), eb('r.id', 'is not', null)]),
        eb.and([eb('p.status', '=', 'refunded'), eb('r.id', 'is', null)]),
      ]),
    )
    .limit(20)
    .execute();

/** Sales in the books without a purchase. */
export const unrecorded = (query: Query) =>
  query
    .selectFrom('ledger_transactions as t')
    .leftJoin('purchases as p', 'p.transaction_id', 't.id')
    .select('t.id')
    .where('t.kind', '=', 'purchase')
    .where('p.id', 'is', null)
    .limit(20)
    .execute();
