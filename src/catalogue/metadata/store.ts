import { type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import './table.ts';

const PAIRS_OF_MOD = statement('select pair from mod_metadata where mod_id = ? order by id');

export async function pairsOfMod(transaction: Transaction, modId: number): Promise<string[]> {
  return (await transaction.all<{ pair: string }>(PAIRS_OF_MOD, [modId])).map(({ pair }) => pair);
}

export async function listPairs(query: Query, modId: number, listing: Listing, request: ListRequest) {
  const wanted = () => narrowed(query.selectFrom('mod_metadata as d').where('d.mod_id', '=', modId), listing, request);
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(wanted().select('d.pair'), listing, request).execute();
  return { pairs: rows.map(({ pair }) => pair), total: Number(total) };
}

export async function add(query: Query, modId: number, pairs: readonly string[]): Promise<void> {
  if (pairs.length > 0)
    await query
      .insertInto('mod_metadata')
      .values(pairs.map((pair) => ({ mod_id: modId, pair })))
      .execute();
}

export async function remove(query: Query, modId: number, pairs: readonly string[]): Promise<void> {
  if (pairs.length > 0)
    await query.deleteFrom('mod_metadata').where('mod_id', '=', modId).where('pair', 'in', pairs).execute();
}

export const removeOfMod = (query: Query, modId: number) =>
  query.deleteFrom('mod_metadata').where('mod_id', '=', modId).execute();
