import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import type { ModVaultsTable } from './table.ts';

export type VaultRow = ModVaultsTable;

const OF_MOD = statement('select * from mod_vaults where mod_id = ?');
export const ofMod = (reader: Pick<Database, 'first'>, modId: number) => reader.first<VaultRow>(OF_MOD, [modId]);

export const put = ({ query }: Transaction, row: VaultRow) =>
  query
    .insertInto('mod_vaults')
    .values(row)
    .onConflict((key) => key.column('mod_id').doUpdateSet(row))
    .execute();

export const remove = async ({ query }: Transaction, modId: number): Promise<boolean> =>
  (await query.deleteFrom('mod_vaults').where('mod_id', '=', modId).returning('mod_id').executeTakeFirst()) !==
  undefined;
