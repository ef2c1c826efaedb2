import { type Database, statement, type Transaction } from '../../platform/database/database.ts';

type Reader = Pick<Database, 'first'>;

const PACK = statement('select pack_id from offer_packs where mod_id = ?');
/** The pack that the mod costs; undefined for a price in tokens. */
export const packOf = async (reader: Reader, modId: number): Promise<number | undefined> =>
  (await reader.first<{ pack_id: number }>(PACK, [modId]))?.pack_id;

const PUT_PACK = statement(`insert into offer_packs (mod_id, pack_id) values (?, ?)
  on conflict (mod_id) do update set pack_id = excluded.pack_id`);
const REMOVE_PACK = statement('delete from offer_packs where mod_id = ?');
export const setPack = (transaction: Transaction, modId: number, packId: number | undefined) =>
  packId === undefined ? transaction.run(REMOVE_PACK, [modId]) : transaction.run(PUT_PACK, [modId, packId]);

const MODS = statement('select mod_id from offer_packs where pack_id = ? and mod_id > ? order by mod_id limit ?');
export const modsWithPack = async (db: Pick<Database, 'all'>, packId: number, after: number, most: number) =>
  (await db.all<{ mod_id: number }>(MODS, [packId, after, most])).map(({ mod_id }) => mod_id);
