import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { TokenPacksTable } from './table.ts';

export type PackRow = Selectable<TokenPacksTable>;

const BY_ID = statement('select * from token_packs where id = ?');
export const byId = (reader: Pick<Database, 'first'>, id: number) => reader.first<PackRow>(BY_ID, [id]);

export interface ListedPack extends Omit<PackRow, 'date_removed'> {
  readonly listing_id: number;
  readonly portal: string;
  readonly sku: string;
}

/** The packs on sale, a row per portal. */
export const listed = (query: Query, gameId: number, portal: string | undefined): Promise<ListedPack[]> =>
  query
    .selectFrom('token_packs as p')
    .innerJoin('token_pack_skus as s', 's.pack_id', 'p.id')
    .select(['p.id', 'p.game_id', 'p.name', 'p.description', 'p.tokens', 'p.price', 'p.currency'])
    .select(['p.date_added', 'p.date_updated', 's.id as listing_id', 's.portal', 's.sku'])
    .where('p.game_id', '=', gameId)
    .where('p.date_removed', '=', 0)
    .$if(portal !== undefined, (some) => some.where('s.portal', '=', portal!))
    .orderBy('p.price')
    .orderBy('s.id')
    .execute();

export const add = (query: Query, row: Insertable<TokenPacksTable>): Promise<PackRow> =>
  query.insertInto('token_packs').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, changes: Updateable<TokenPacksTable>): Promise<PackRow> =>
  query.updateTable('token_packs').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Replaces the SKUs in stores; the listing of the service itself stays. */
export async function putSkus({ query }: Transaction, pack: PackRow, skus: ReadonlyMap<string, string>): Promise<void> {
  const gone = query.deleteFrom('token_pack_skus').where('pack_id', '=', pack.id).where('portal', '<>', '');
  await (skus.size > 0 ? gone.where('portal', 'not in', [...skus.keys()]) : gone).execute();
  for (const [portal, sku] of skus)
    await query
      .insertInto('token_pack_skus')
      .values({ pack_id: pack.id, game_id: pack.game_id, portal, sku })
      .onConflict((key) => key.columns(['pack_id', 'portal']).doUpdateSet({ sku }))
      .execute();
}

export const addListing = ({ query }: Transaction, { id, game_id }: PackRow) =>
  query.insertInto('token_pack_skus').values({ pack_id: id, game_id, portal: '', sku: '' }).execute();

const BY_SKU = statement(`select p.* from token_packs p join token_pack_skus s on s.pack_id = p.id
  where s.game_id = ? and s.portal = ? and s.sku = ? and p.date_removed = 0`);
export const bySku = (reader: Pick<Database, 'first'>, gameId: number, portal: string, sku: string) =>
  reader.first<PackRow>(BY_SKU, [gameId, portal, sku]);

const LISTED = statement('select 1 as listed from token_pack_skus where game_id = ? and portal = ? limit 1');
export const isListedIn = async (reader: Pick<Database, 'first'>, gameId: number, portal: string): Promise<boolean> =>
  (await reader.first(LISTED, [gameId, portal])) !== undefined;

/** A removed pack leaves its SKUs to others. */
export const removeSkus = ({ query }: Transaction, packId: number) =>
  query.deleteFrom('token_pack_skus').where('pack_id', '=', packId).execute();

const COVERING = statement(`select * from token_packs where game_id = ? and date_removed = 0 and tokens >= ?
  order by price, id limit 1`);
export const covering = (reader: Pick<Database, 'first'>, gameId: number, tokens: number) =>
  reader.first<PackRow>(COVERING, [gameId, tokens]);

const SKUS = statement("select id, sku, portal from token_pack_skus where pack_id = ? and portal <> '' order by id");
export const skusOf = (reader: Pick<Database, 'all'>, packId: number) =>
  reader.all<{ id: number; sku: string; portal: string }>(SKUS, [packId]);
