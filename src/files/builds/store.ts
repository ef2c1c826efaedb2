import type { Insertable, Selectable, Updateable } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type { CookBuildPartsTable, CookBuildsTable } from './table.ts';

export type BuildRow = Selectable<CookBuildsTable>;
export type PartRow = Selectable<CookBuildPartsTable>;

type Reader = Pick<Database, 'first'>;

const BY_UUID = statement('select * from cook_builds where build_uuid = ?');
export const byUuid = (reader: Reader, uuid: string) => reader.first<BuildRow>(BY_UUID, [uuid]);

const FOR_CHANGE = withUpdateLock(statement('select * from cook_builds where id = ?'));
export const forChange = (transaction: Transaction, id: number) => transaction.first<BuildRow>(FOR_CHANGE, [id]);

const NEWEST = statement("select * from cook_builds where game_id = ? and state <> 'void' order by id desc limit 1");
export const newestOf = (reader: Reader, gameId: number) => reader.first<BuildRow>(NEWEST, [gameId]);

const LIVE = statement("select * from cook_builds where game_id = ? and is_live = 1 and state = 'valid'");
export const liveOf = (reader: Reader, gameId: number) => reader.first<BuildRow>(LIVE, [gameId]);

/** All builds that can be scanned, or those without a completed scan. */
export const scannableAfter = (query: Query, id: number, all: boolean, limit: number) => {
  const every = query
    .selectFrom('cook_builds')
    .select(['id', 'build_uuid'])
    .where('id', '>', id)
    .where((eb) => eb.or([eb('state', '=', 'valid'), eb('state', '=', 'invalid').and('virus_positive', '=', 1)]));
  return (all ? every : every.where('virus_status', '<>', 1)).orderBy('id').limit(limit).execute();
};

const COUNT_SCANNABLE = statement(`select count(*) as total from cook_builds
  where state = 'valid' or (state = 'invalid' and virus_positive = 1)`);
export const countScannable = async (reader: Reader): Promise<number> =>
  Number((await reader.first<{ total: number }>(COUNT_SCANNABLE, []))!.total);

const COUNT_JOBS = statement("select count(*) as total from jobs where kind = ? and state <> 'parked'");
export const countOpenJobs = async (reader: Reader, kind: string): Promise<number> =>
  Number((await reader.first<{ total: number }>(COUNT_JOBS, [kind]))!.total);

const MAILED_TEAM = statement(`select t.user_id from team_members t join users u on u.id = t.user_id
  where t.resource = 'games' and t.resource_id = ? and u.email is not null and u.status = 1 order by t.user_id`);
export const mailedTeamOf = (transaction: Transaction, gameId: number) =>
  transaction.all<{ user_id: number }>(MAILED_TEAM, [gameId]);

const THREAT = statement(`select b.problem, g.name as game, u.email, u.language
  from cook_builds b join games g on g.id = b.game_id join users u on u.id = ?
  where b.build_uuid = ? and b.state = 'invalid' and b.virus_positive = 1 and u.status <> 3`);
/** The contents of a mail about a threat. Undefined once the threat is gone. */
export const threatFor = (db: Database, userId: number, uuid: string) =>
  db.first<{ problem: string; game: string; email: string | null; language: string }>(THREAT, [userId, uuid]);

const AT_KEY = statement('select * from cook_builds where storage_key = ?');
export const atKey = (reader: Reader, key: string) => reader.first<BuildRow>(AT_KEY, [key]);

export const add = (query: Query, row: Insertable<CookBuildsTable>): Promise<BuildRow> =>
  query.insertInto('cook_builds').values(row).returningAll().executeTakeFirstOrThrow();

export const change = (query: Query, id: number, values: Updateable<CookBuildsTable>): Promise<BuildRow> =>
  query.updateTable('cook_builds').set(values).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** The other builds of the game: the incomplete ones, or all. */
export async function voidOthers(
  { query }: Transaction,
  { gameId, exceptId, openOnly, now }: { gameId: number; exceptId: number; openOnly: boolean; now: number },
): Promise<void> {
  const others = query
    .updateTable('cook_builds')
    .set({ state: 'void', is_live: 0, date_updated: now })
    .where('game_id', '=', gameId)
    .where('id', '<>', exceptId);
  await (openOnly ? others.where('state', '=', 'open') : others).execute();
}

const PARTS = statement('select * from cook_build_parts where build_id = ? order by part_number');
export const partsOf = (reader: Pick<Database, 'all'>, buildId: number) => reader.all<PartRow>(PARTS, [buildId]);

const PART = statement('select * from cook_build_parts where build_id = ? and part_number = ?');
export const partOf = (reader: Reader, buildId: number, number: number) =>
  reader.first<PartRow>(PART, [buildId, number]);

export const addPart = (query: Query, part: PartRow) => query.insertInto('cook_build_parts').values(part).execute();

export const removeParts = (query: Query, buildId: number, numbers: readonly number[]) =>
  query.deleteFrom('cook_build_parts').where('build_id', '=', buildId).where('part_number', 'in', numbers).execute();

/** Returns false if another request was first. */
export async function begun(query: Query, id: number, handle: string): Promise<boolean> {
  const changed = await query
    .updateTable('cook_builds')
    .set({ handle })
    .where('id', '=', id)
    .where('handle', 'is', null)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/** Builds that are no longer needed. */
export const over = (query: Query, now: number, limit: number) =>
  query
    .selectFrom('cook_builds')
    .selectAll()
    .where((eb) => eb.or([eb('state', '=', 'void'), eb('state', '=', 'open').and('date_expires', '<=', now)]))
    .orderBy('id')
    .limit(limit)
    .execute();

export async function remove(query: Query, id: number): Promise<void> {
  await query.deleteFrom('cook_build_parts').where('build_id', '=', id).execute();
  await query.deleteFrom('cook_builds').where('id', '=', id).execute();
}

export const keptAfter = (query: Query, id: number, limit: number) =>
  query
    .selectFrom('cook_builds')
    .selectAll()
    .where('id', '>', id)
    .where('state', 'in', ['whole', 'valid'])
    .orderBy('id')
    .limit(limit)
    .execute();

const RUNNERS = statement('select count(*) as total from cook_runners where game_id = ? and date_revoked = 0');
export const hasRunners = async (transaction: Transaction, gameId: number): Promise<boolean> =>
  Number((await transaction.first<{ total: number }>(RUNNERS, [gameId]))!.total) > 0;
