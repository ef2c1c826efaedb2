import type { Insertable, Selectable } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { GameFileTypesTable, ModfileFindingsTable } from './table.ts';

export type FindingRow = Selectable<ModfileFindingsTable>;

export async function add(query: Query, rows: readonly Insertable<ModfileFindingsTable>[]): Promise<void> {
  if (rows.length > 0) await query.insertInto('modfile_findings').values(rows).execute();
}

export async function removeOfFile(query: Query, modfileId: number, kinds: readonly number[]): Promise<void> {
  await query.deleteFrom('modfile_findings').where('modfile_id', '=', modfileId).where('kind', 'in', kinds).execute();
}

export async function removeOfMod(query: Query, modId: number): Promise<void> {
  await query.deleteFrom('modfile_findings').where('mod_id', '=', modId).execute();
}

/** Findings in deleted files are left out. */
export async function list(query: Query, gameId: number, listing: Listing, request: ListRequest) {
  const wanted = () =>
    narrowed(
      query
        .selectFrom('modfile_findings as n')
        .innerJoin('modfiles as f', 'f.id', 'n.modfile_id')
        .where('n.game_id', '=', gameId)
        .where('f.status', '<>', 3),
      listing,
      request,
    );
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(wanted().selectAll('n'), listing, request).execute();
  return { rows, total: Number(total) };
}

const FILE_TYPES = statement('select * from game_file_types where game_id = ?');
export const fileTypesOf = (reader: Pick<Database, 'first'>, gameId: number) =>
  reader.first<GameFileTypesTable>(FILE_TYPES, [gameId]);

export const putFileTypes = (query: Query, row: GameFileTypesTable) =>
  query
    .insertInto('game_file_types')
    .values(row)
    .onConflict((key) => key.column('game_id').doUpdateSet(row))
    .execute();
