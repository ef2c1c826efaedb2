import { type Selectable, sql } from 'kysely';
import type { Tables } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed } from '../../platform/database/listing.ts';
import { indexedBy, type Reading } from './store.ts';

/** The files that wait for approval, one row per platform. Those of deleted mods do not. */
function waitingFiles({ query }: Reading, gameId: number | undefined) {
  const everywhere = query.selectFrom('waiting_files as p');
  return gameId === undefined ? everywhere : everywhere.where('p.game_id', '=', gameId);
}

/** The same with what lists filter and sort by. */
function describedFiles(db: Reading, gameId: number | undefined) {
  const files = sql<Selectable<Tables['modfiles']>>`modfiles`.as<'f'>(sql.raw(`f${indexedBy(db, 'modfiles_shown')}`));
  return (
    waitingFiles(db, gameId)
      // A cross join, so that SQLite begins with the few files that wait.
      .crossJoin(files)
      .whereRef('f.id', '=', 'p.modfile_id')
      // True of all of them, and the condition of the index.
      .where(sql<boolean>`f.status = 1 and f.withdrawn = 0`)
  );
}

const totalIn = sql<number>`count(*)`.as('total');

export async function countFiles(db: Reading, gameId: number | undefined): Promise<number> {
  return Number((await waitingFiles(db, gameId).select(totalIn).executeTakeFirstOrThrow()).total);
}

async function countListed(db: Reading, gameId: number | undefined, listing: Listing, request: ListRequest) {
  if (request.groups.length === 0) return countFiles(db, gameId);
  const listed = narrowed(describedFiles(db, gameId), listing, request);
  return Number((await listed.select(totalIn).executeTakeFirstOrThrow()).total);
}

/**
 * Sorts ids, and reads names only of those on the page. The ids are those of what waits, which SQLite reads in this order:
 * it would sort all files by their own.
 */
export async function listFiles(db: Reading, gameId: number | undefined, listing: Listing, request: ListRequest) {
  const total = await countListed(db, gameId, listing, request);
  const { sort } = request;
  const direction = sort?.descending ? 'desc' : 'asc';
  const isById = sort === undefined || sort.sql === listing.sorts['id'];
  const onPage = narrowed(describedFiles(db, gameId), listing, request)
    .select(['f.id', 'p.platform'])
    .$if(!isById, (files) => files.orderBy(sql.raw(sort!.sql), direction))
    .orderBy('p.modfile_id', isById ? direction : 'asc')
    .orderBy('p.platform')
    .limit(request.limit)
    .offset(request.offset);
  const page = await onPage.execute();
  const files = await namedFiles(
    db,
    page.map(({ id }) => id),
  );
  const rows = page.flatMap(({ id, platform }) => {
    const file = files.get(id);
    return file ? [{ ...file, platform }] : [];
  });
  return { rows, total };
}

async function namedFiles({ query }: Reading, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, never>();
  const files = await query
    .selectFrom('modfiles as f')
    .innerJoin('mods as m', 'm.id', 'f.mod_id')
    .select(['f.id', 'f.game_id', 'f.mod_id', 'm.name', 'f.version', 'f.filename', 'f.submitted_by', 'f.date_added'])
    .where('f.id', 'in', ids)
    .execute();
  return new Map(files.map((file) => [file.id, file]));
}
