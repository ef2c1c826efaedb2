import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import type { MarketplaceSubmissionsTable, SubmissionStatus } from './table.ts';

export type { SubmissionStatus } from './table.ts';
export type SubmissionRow = MarketplaceSubmissionsTable;

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

const SUBMISSION = statement('select * from marketplace_submissions where mod_id = ?');
export const submissionOf = (reader: Reader, modId: number) => reader.first<SubmissionRow>(SUBMISSION, [modId]);

export const putSubmission = (query: Query, row: SubmissionRow): Promise<SubmissionRow> =>
  query
    .insertInto('marketplace_submissions')
    .values(row)
    .onConflict((key) => key.column('mod_id').doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow();

const WITHDRAW = statement('delete from marketplace_submissions where mod_id = ?');
export const removeSubmission = (transaction: Transaction, modId: number) => transaction.run(WITHDRAW, [modId]);

export interface QueuedMod extends SubmissionRow {
  readonly name: string;
  readonly price: number;
}

export async function submissionsOf(
  query: Query,
  gameId: number,
  status: SubmissionStatus,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ rows: QueuedMod[]; total: number }> {
  const own = query
    .selectFrom('marketplace_submissions as s')
    .innerJoin('mods as m', 'm.id', 's.mod_id')
    .where('s.game_id', '=', gameId)
    .where('s.status', '=', status)
    // A deleted mod waits for nothing.
    .where('m.status', '<>', 3);
  const { total } = await own.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow();
  const listed = own.selectAll('s').select(['m.name', 'm.price']).orderBy('s.date_added').orderBy('s.mod_id');
  return { rows: await listed.limit(limit).offset(offset).execute(), total: Number(total) };
}
