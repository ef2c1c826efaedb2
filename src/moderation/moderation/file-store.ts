import { type Selectable, sql } from 'kysely';
import type { Tables } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { indexedBy, type Reading } from './store.ts';

/** The files that wait for approval, one row per platform. Those of deleted mods do not. */
function pendingFiles(db: Reading, gameId: number | undefined) {
  const files = sql<Selectable<Tables['modfiles']>>`modfiles`.as<'f'>(sql.raw(`f${indexedBy(db, 'modfiles_shown')}`));
  const deleted = sql.raw(`mods x${indexedBy(db, 'mods_deleted')}`);
  const everywhere = db.query
    .selectFrom('modfile_platforms as p')
    // A cross join, so that SQLite begins with the few platforms that wait.
    .crossJoin(files)
    .whereRef('f.id', '=', 'p.modfile_id')
    // Literals, so that the partial indexes on them are used.
    .where(sql<boolean>`p.status = 0`)
    .where(sql<boolean>`f.status = 1 and f.withdrawn = 0`)
    .where(sql<boolean>`not exists (select 1 from ${deleted} where x.id = f.mod_id and x.status = 3)`);
  return gameId === undefined ? everywhere : everywhere.where('f.game_id', '=', gameId);
}

export async function countFiles(db: Reading, gameId: number): Promise<number> {
  const waiting = pendingFiles(db, gameId).select(sql<number>`count(*)`.as('total'));
  return Number((await waiting.executeTakeFirstOrThrow()).total);
}

/**
 * Sorts ids, and reads names only of those on the page. The ids are those of the platforms, which SQLite reads in this
 * order: it would sort all files by their own.
 */
export async function listFiles(db: Reading, gameId: number | undefined, listing: Listing, request: ListRequest) {
  const all = narrowed(pendingFiles(db, gameId), listing, request);
  const { total } = await all.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const { sort } = request;
  const direction = sort?.descending ? 'desc' : 'asc';
  const isById = sort === undefined || sort.sql === listing.sorts['id'];
  const onPage = all
    .select(['f.id', 'p.platform'])
    .$if(!isById, (files) => files.orderBy(sql.raw(sort!.sql), direction))
    .orderBy('p.modfile_id', isById ? direction : 'asc')
    .orderBy('p.platform')
    .limit(request.limit)
    .offset(request.offset);
  const named = db.query
    .selectFrom(onPage.as('p'))
    .innerJoin('modfiles as f', 'f.id', 'p.id')
    .innerJoin('mods as m', 'm.id', 'f.mod_id')
    .select(['f.id', 'f.game_id', 'f.mod_id', 'm.name', 'p.platform', 'f.version', 'f.filename', 'f.submitted_by'])
    .select('f.date_added');
  const rows = await paged(named, listing, { ...request, offset: 0 })
    .orderBy('p.platform')
    .execute();
  return { rows, total: Number(total) };
}
