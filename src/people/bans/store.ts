import { type Selectable, sql } from 'kysely';
import type { Query, Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { AddressBansTable } from './table.ts';

export type BanRow = Selectable<AddressBansTable>;

/** Undefined where the network is banned already; an ended ban is replaced. */
export async function add({ query }: Transaction, row: Omit<BanRow, 'id'>): Promise<BanRow | undefined> {
  await query
    .deleteFrom('address_bans')
    .where('network', '=', row.network)
    .where('date_expires', '>', 0)
    .where('date_expires', '<=', row.date_added)
    .execute();
  return query
    .insertInto('address_bans')
    .values(row)
    .onConflict((key) => key.column('network').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const remove = ({ query }: Transaction, id: number): Promise<BanRow | undefined> =>
  query.deleteFrom('address_bans').where('id', '=', id).returningAll().executeTakeFirst();

export const removeEnded = ({ query }: Transaction, before: number) =>
  query.deleteFrom('address_bans').where('date_expires', '>', 0).where('date_expires', '<', before).execute();

export async function list(query: Query, listing: Listing, request: ListRequest) {
  const wanted = narrowed(query.selectFrom('address_bans as b'), listing, request);
  const { total } = await wanted.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows: BanRow[] = await paged(wanted.selectAll('b'), listing, request).execute();
  return { rows, total: Number(total) };
}

export const all = (query: Query): Promise<BanRow[]> =>
  query.selectFrom('address_bans').selectAll().orderBy('id').execute();
