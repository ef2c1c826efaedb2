import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { takesBack } from '../../platform/database/reversals.ts';
import type { S2sTransactionsTable } from './table.ts';

export type { TransactionStatus } from './table.ts';
export type TransactionRow = Selectable<S2sTransactionsTable>;
type Reader = Pick<Database, 'first'>;

const BY_ID = statement('select * from s2s_transactions where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<TransactionRow>(BY_ID, [id]);
const BY_ID_LOCKED = withUpdateLock(BY_ID);
/** Others who decide over the transaction wait from here on. */
export const lockById = (transaction: Transaction, id: number) => transaction.first<TransactionRow>(BY_ID_LOCKED, [id]);

const STANDING = statement(`select * from s2s_transactions where game_id = ? and portal = ? and gateway_uuid = ?
  and status in ('pending', 'paid', 'refunded')`);
export const standing = (reader: Reader, gameId: number, portal: string, gatewayUuid: string) =>
  reader.first<TransactionRow>(STANDING, [gameId, portal, gatewayUuid]);

export const add = (query: Query, row: Insertable<S2sTransactionsTable>): Promise<TransactionRow> =>
  query.insertInto('s2s_transactions').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, changes: Updateable<S2sTransactionsTable>): Promise<TransactionRow> =>
  query.updateTable('s2s_transactions').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

const EXPIRE = statement(
  "update s2s_transactions set status = 'failed', date_ended = ? where status = 'pending' and date_added <= ?",
);
export const expireUntil = (transaction: Transaction, date: number, now: number) =>
  transaction.run(EXPIRE, [now, date]);

/** With the names that answers show. */
const named = (query: Query) =>
  query
    .selectFrom('s2s_transactions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('games as g', 'g.id', 's.game_id')
    .leftJoin('mods as m', 'm.id', 's.mod_id')
    .innerJoin('token_packs as k', 'k.id', 's.pack_id')
    .leftJoin('purchases as p', 'p.id', 's.purchase_id')
    .selectAll('s')
    .select(['u.username as buyer_name', 'g.name as game_name', 'g.token_name'])
    .select(['m.name as mod_name', 'k.name as pack_name', 'p.transaction_id as sale_id']);

export type NamedTransaction = Awaited<ReturnType<typeof byName>>;

export const byName = (query: Query, id: number) => named(query).where('s.id', '=', id).executeTakeFirstOrThrow();

/** All attempts at one sale, the oldest first. */
export const ofGateway = (query: Query, gameId: number, gatewayUuid: string) =>
  named(query)
    .where('s.game_id', '=', gameId)
    .where('s.gateway_uuid', '=', gatewayUuid)
    .orderBy('s.id')
    .limit(100)
    .execute();

export interface TransactionFilter {
  readonly status?: TransactionRow['status'] | undefined;
  /** Of paid ones: whether the hold is over at this second. */
  readonly cleared?: { readonly now: number; readonly is: boolean } | undefined;
  readonly buyer?: number | undefined;
  readonly clawbackUuid?: string | undefined;
  readonly gatewayUuid?: string | undefined;
  readonly sku?: string | undefined;
  readonly since?: number | undefined;
}

export interface Cursor {
  readonly id: number;
  /** `after`: older ones than the id. `before`: newer ones. */
  readonly direction: 'after' | 'before';
}

/** Newest first, from the cursor on, also where the page goes back. */
export async function page(
  query: Query,
  gameId: number,
  filter: TransactionFilter,
  cursor: Cursor | undefined,
  most: number,
): Promise<NamedTransaction[]> {
  const { status, cleared, buyer, clawbackUuid, gatewayUuid, sku, since } = filter;
  const isBack = cursor?.direction === 'before';
  const rows = await named(query)
    .where('s.game_id', '=', gameId)
    .$if(status !== undefined, (some) => some.where('s.status', '=', status!))
    .$if(cleared !== undefined, (some) => some.where('s.date_clears', cleared!.is ? '<=' : '>', cleared!.now))
    .$if(buyer !== undefined, (some) => some.where('s.user_id', '=', buyer!))
    .$if(clawbackUuid !== undefined, (some) => some.where('s.clawback_uuid', '=', clawbackUuid!))
    .$if(gatewayUuid !== undefined, (some) => some.where('s.gateway_uuid', '=', gatewayUuid!))
    .$if(sku !== undefined, (some) => some.where('s.sku', '=', sku!))
    .$if(since !== undefined, (some) => some.where('s.date_added', '>=', since!))
    .$if(cursor !== undefined, (some) => some.where('s.id', isBack ? '>' : '<', cursor!.id))
    .orderBy('s.id', isBack ? 'asc' : 'desc')
    .limit(most)
    .execute();
  return isBack ? rows.reverse() : rows;
}

/** Transactions whose state disagrees with the books, for their verification. */
export const disagreeing = (query: Query) =>
  query
    .selectFrom('s2s_transactions as s')
    .leftJoin('ledger_transactions as t', 't.id', 's.transaction_id')
    .leftJoin('ledger_transactions as r', (join) => join.on(takesBack('r', 't.id')))
    .leftJoin('purchases as p', 'p.id', 's.purchase_id')
    .select(['s.id', 's.status'])
    .where((eb) =>
      eb.or([
        eb.and([eb('s.status', 'in', ['pending', 'cancelled', 'failed']), eb('t.id', 'is not', null)]),
        eb.and([eb('s.status', '=', 'paid'), eb.or([eb('t.id', 'is', null), eb('r.id', 'is not', null)])]),
        eb.and([eb('s.status', '=', 'refunded'), eb.or([eb('t.id', 'is', null), eb('r.id', 'is', null)])]),
        eb.and([eb('s.status', '=', 'refunded'), eb('p.status', '=', 'paid')]),
      ]),
    )
    .limit(20)
    .execute();
