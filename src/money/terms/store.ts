import type { Insertable, Selectable } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';
import type { SellingTermsTable } from './table.ts';

export type TermsRow = Selectable<SellingTermsTable>;

const CURRENT = statement('select * from selling_terms where game_id = ? order by id desc limit 1');
export const current = (reader: Pick<Database, 'first'>, gameId: number) => reader.first<TermsRow>(CURRENT, [gameId]);

const BY_ID = statement('select * from selling_terms where id = ?');
export const byId = (reader: Pick<Database, 'first'>, id: number) => reader.first<TermsRow>(BY_ID, [id]);

export const add = (query: Query, row: Insertable<SellingTermsTable>): Promise<TermsRow> =>
  query.insertInto('selling_terms').values(row).returningAll().executeTakeFirstOrThrow();

export async function history(query: Query, gameId: number, { limit, offset }: { limit: number; offset: number }) {
  const own = query.selectFrom('selling_terms').where('game_id', '=', gameId);
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const rows = await own.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { rows, total: Number(total) };
}
