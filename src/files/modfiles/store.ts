import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Tables,
  type Transaction,
  updateOf,
  type Value,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { IS_PUBLIC_FILE, runsOnPlatform } from '../../platform/database/platforms.ts';
import type { ModfilePlatformsTable, ModfilesTable } from './table.ts';

export type ModfileRow = Selectable<ModfilesTable>;
export type FilePlatform = Omit<ModfilePlatformsTable, 'modfile_id'>;
export type GamePlatform = Pick<Selectable<Tables['game_platforms']>, 'platform' | 'moderated' | 'locked'>;
type Reader = Pick<Database, 'first'>;

/** The stored object, and the fields that its download link needs. */
export interface StoredFile {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
  readonly kind: ModfileRow['kind'];
  readonly sha256: string;
  readonly submitted_by: number;
  readonly body: string;
}

const STORED = `select f.id, f.mod_id, f.game_id, f.kind, f.sha256, f.submitted_by, d.body
  from modfiles f join modfile_documents d on d.modfile_id = f.id`;

interface FileAddress {
  readonly id: number;
  readonly modId: number;
  readonly kind: ModfileRow['kind'];
}

const FOR_TEAM = 'where f.id = ? and f.mod_id = ? and f.kind = ? and f.status <> 3';
const FOR_ALL = `${FOR_TEAM} and ${IS_PUBLIC_FILE}`;

const OF_TEAM = statement(`${STORED} ${FOR_TEAM}`);
const OF_ALL = statement(`${STORED} ${FOR_ALL}`);
export const storedFile = (reader: Reader, { id, modId, kind }: FileAddress, everything: boolean) =>
  reader.first<StoredFile>(everything ? OF_TEAM : OF_ALL, [id, modId, kind]);

const ROW_OF_TEAM = statement(`select f.* from modfiles f ${FOR_TEAM}`);
const ROW_OF_ALL = statement(`select f.* from modfiles f ${FOR_ALL}`);
export const visibleRow = (reader: Reader, { id, modId, kind }: FileAddress, everything: boolean) =>
  reader.first<ModfileRow>(everything ? ROW_OF_TEAM : ROW_OF_ALL, [id, modId, kind]);

/** Whether a file may run on a platform. */
export async function isFor(query: Query, id: number, platform: string): Promise<boolean> {
  const files = query.selectFrom('modfiles as f').select('f.id').where('f.id', '=', id);
  return (await files.where(runsOnPlatform(platform)).executeTakeFirst()) !== undefined;
}

const ROW = statement('select * from modfiles where id = ?');
export const rowOf = (reader: Reader, id: number) => reader.first<ModfileRow>(ROW, [id]);

const NEWEST_SOURCE = statement(`select * from modfiles where mod_id = ? and status = 1 and kind = 'source'
  and withdrawn = 0 order by id desc limit 1`);
export const newestSource = (transaction: Transaction, modId: number) =>
  transaction.first<ModfileRow>(NEWEST_SOURCE, [modId]);

/** The files of a list, and those of them that the caller may see. */
export interface FileScope {
  readonly kind: ModfileRow['kind'];
  readonly modId: number | undefined;
  readonly submitterId: number | undefined;
  /** Includes files that were not released, or are pending, denied or taken down. */
  readonly everything: boolean;
  readonly platform: string | undefined;
  readonly platformStatus: PlatformStatus | undefined;
}

export type PlatformStatus = 'pending_only' | 'live_and_pending';

function within(query: Query, scope: FileScope) {
  const { kind, modId, submitterId, everything, platform, platformStatus } = scope;
  let files = query.selectFrom('modfiles as f').where('f.kind', '=', kind).where('f.status', '<>', 3);
  if (modId !== undefined) files = files.where('f.mod_id', '=', modId);
  if (submitterId !== undefined) files = files.where('f.submitted_by', '=', submitterId);
  if (!everything) files = files.where(sql<boolean>`(${sql.raw(IS_PUBLIC_FILE)})`);
  if (platformStatus === 'pending_only') return files.where(waits(platform));
  const approved = platform === undefined ? ANYWHERE : runsOnPlatform(platform);
  if (platformStatus === 'live_and_pending') return files.where(sql<boolean>`(${approved} or ${waits(platform)})`);
  return platform === undefined ? files : files.where(approved);
}

/** Approved for at least one platform, or not limited to platforms. */
const ANYWHERE = sql<boolean>`(not exists (select 1 from modfile_platforms p where p.modfile_id = f.id)
  or exists (select 1 from modfile_platforms p where p.modfile_id = f.id and p.status = 1))`;

const waits = (platform: string | undefined) =>
  sql<boolean>`exists (select 1 from modfile_platforms p where p.modfile_id = f.id and p.status = 0
    ${platform === undefined ? sql`` : sql`and p.platform = ${platform}`})`;

export async function list(
  query: Query,
  scope: FileScope,
  listing: Listing,
  request: ListRequest,
): Promise<{ files: StoredFile[]; total: number }> {
  const wanted = () => narrowed(within(query, scope), listing, request);
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const ids = (await paged(wanted().select('f.id'), listing, request).execute()).map((row) => row.id);
  if (ids.length === 0) return { files: [], total: Number(total) };
  const { rows } = await sql<StoredFile>`${sql.raw(STORED)} where f.id in (${sql.join(ids)})`.execute(query);
  const files = new Map(rows.map((row) => [row.id, row]));
  return { files: ids.flatMap((id) => files.get(id) ?? []), total: Number(total) };
}

export const add = (query: Query, row: Insertable<ModfilesTable>): Promise<ModfileRow> =>
  query.insertInto('modfiles').values(row).returningAll().executeTakeFirstOrThrow();

/** Returns the changed file. */
export async function change(
  transaction: Transaction,
  id: number,
  set: Updateable<ModfilesTable>,
): Promise<ModfileRow> {
  const columns = Object.entries(set).filter(([, value]) => value !== undefined) as [string, Value][];
  const update = updateOf(
    'modfiles',
    columns.map(([name]) => name),
  );
  return (await transaction.first<ModfileRow>(update, [...columns.map(([, value]) => value), id]))!;
}

const PUT_DOCUMENT = statement(`insert into modfile_documents (modfile_id, body, sha256) values (?, ?, ?)
  on conflict (modfile_id) do update set body = excluded.body, sha256 = excluded.sha256`);
export const putDocument = (transaction: Transaction, { id, sha256 }: ModfileRow, body: string) =>
  transaction.run(PUT_DOCUMENT, [id, body, sha256]);

const PLATFORMS_OF = statement('select platform, status from modfile_platforms where modfile_id = ? order by platform');
export const platformsOf = (transaction: Transaction, id: number) => transaction.all<FilePlatform>(PLATFORMS_OF, [id]);

const PUT_PLATFORM = statement(`insert into modfile_platforms (modfile_id, platform, status) values (?, ?, ?)
  on conflict (modfile_id, platform) do update set status = excluded.status`);
export async function putPlatforms(transaction: Transaction, id: number, platforms: readonly FilePlatform[]) {
  for (const { platform, status } of platforms) await transaction.run(PUT_PLATFORM, [id, platform, status]);
}

const GAME_PLATFORMS = statement(
  'select platform, moderated, locked from game_platforms where game_id = ? order by platform',
);
export const platformsOfGame = (transaction: Transaction, gameId: number) =>
  transaction.all<GamePlatform>(GAME_PLATFORMS, [gameId]);

const CURATION = statement('select curation_option from games where id = ?');
export async function curationOf(transaction: Transaction, gameId: number): Promise<number> {
  return (await transaction.first<{ curation_option: number }>(CURATION, [gameId]))!.curation_option;
}

const LIVE_OF = statement('select platform, modfile_id from mod_live_files where mod_id = ? order by platform');
export async function liveFilesOf(transaction: Transaction, modId: number): Promise<Map<string, number>> {
  const rows = await transaction.all<{ platform: string; modfile_id: number }>(LIVE_OF, [modId]);
  return new Map(rows.map(({ platform, modfile_id }) => [platform, modfile_id]));
}

const PUT_LIVE = statement(`insert into mod_live_files (mod_id, platform, modfile_id) values (?, ?, ?)
  on conflict (mod_id, platform) do update set modfile_id = excluded.modfile_id`);
export const putLive = (transaction: Transaction, modId: number, platform: string, fileId: number) =>
  transaction.run(PUT_LIVE, [modId, platform, fileId]);

const MARK_RELEASED = statement('update modfiles set released = 1 where id = ? and released = 0');
export const markReleased = (transaction: Transaction, id: number) => transaction.run(MARK_RELEASED, [id]);

const REMOVE_LIVE = statement('delete from mod_live_files where mod_id = ? and platform = ?');
export const removeLive = (transaction: Transaction, modId: number, platform: string) =>
  transaction.run(REMOVE_LIVE, [modId, platform]);

const SHOW_NEWEST = statement(`insert into mod_live_files (mod_id, platform, modfile_id)
  select mod_id, '', max(modfile_id) from mod_live_files where mod_id = ? group by mod_id having min(platform) <> ''`);
/** A mod with live files shows one to clients that name no platform; an import may have brought none. */
export const showNewest = (transaction: Transaction, modId: number) => transaction.run(SHOW_NEWEST, [modId]);

/** The platforms on which the file goes live once it may. */
const AWAITED = statement('select platform from mod_awaited_files where modfile_id = ? order by platform');
export async function awaitedOf(transaction: Transaction, fileId: number): Promise<string[]> {
  return (await transaction.all<{ platform: string }>(AWAITED, [fileId])).map(({ platform }) => platform);
}

const PUT_AWAITED = statement(`insert into mod_awaited_files (mod_id, platform, modfile_id) values (?, ?, ?)
  on conflict (mod_id, platform) do update set modfile_id = excluded.modfile_id`);
export const putAwaited = (transaction: Transaction, modId: number, platform: string, fileId: number) =>
  transaction.run(PUT_AWAITED, [modId, platform, fileId]);

const REMOVE_AWAITED = statement('delete from mod_awaited_files where modfile_id = ?');
export const removeAwaited = (transaction: Transaction, fileId: number) => transaction.run(REMOVE_AWAITED, [fileId]);

/** A file, and the mod to lock for it. */
export type FileOfMod = Pick<ModfileRow, 'id' | 'mod_id'>;

const AT_KEY = statement(`select id, mod_id from modfiles where storage_key = ? and status <> 3 and id > ?
  order by id limit ?`);
export const filesAt = (db: Database, key: string, afterId: number, limit: number) =>
  db.all<FileOfMod>(AT_KEY, [key, afterId, limit]);

const AWAITED_AFTER = statement(`select distinct modfile_id as id, mod_id from mod_awaited_files where modfile_id > ?
  order by modfile_id limit ?`);
export const awaitedAfter = (db: Database, afterId: number, limit: number) =>
  db.all<FileOfMod>(AWAITED_AFTER, [afterId, limit]);

const KEYS = statement(`select distinct storage_key from modfiles where storage_key > ? and status <> 3
  order by storage_key limit ?`);
const KEYS_UNSCANNED = statement(`select distinct storage_key from modfiles where storage_key > ? and status <> 3
  and date_scanned = 0 order by storage_key limit ?`);
/** The keys of all files, or of those without a completed scan. */
export async function keysAfter(db: Database, key: string, all: boolean, limit: number): Promise<string[]> {
  const rows = await db.all<{ storage_key: string }>(all ? KEYS : KEYS_UNSCANNED, [key, limit]);
  return rows.map(({ storage_key }) => storage_key);
}

const COUNT_KEYS = statement('select count(distinct storage_key) as total from modfiles where status <> 3');
export async function countKeys(db: Database): Promise<number> {
  return Number((await db.first<{ total: number }>(COUNT_KEYS, []))!.total);
}

const COUNT_KEYS_AFTER = statement(`select count(distinct storage_key) as total from modfiles
  where storage_key > ? and status <> 3`);
export async function countKeysAfter(db: Database, key: string): Promise<number> {
  return Number((await db.first<{ total: number }>(COUNT_KEYS_AFTER, [key]))!.total);
}

const OPEN_JOBS = statement("select payload from jobs where kind = ? and state <> 'parked'");
/** The payloads of the waiting and running jobs of a kind. */
export async function openJobs<T>(db: Database, kind: string): Promise<T[]> {
  return (await db.all<{ payload: string }>(OPEN_JOBS, [kind])).map(({ payload }) => JSON.parse(payload));
}

/** The users to warn of a withdrawn file: the teams of its mod and game, and those of mods that depend on the mod. */
const CONCERNED = statement(`select t.user_id, max(t.own) as own from (
    select user_id, 1 as own from team_members where resource = 'mods' and resource_id = ?
    union all select user_id, 1 from team_members where resource = 'games' and resource_id = ?
    union all select m.user_id, 0 from mod_dependencies d
      join team_members m on m.resource = 'mods' and m.resource_id = d.mod_id where d.dependency_id = ?
  ) t group by t.user_id order by t.user_id limit ?`);
export const usersToWarn = (transaction: Transaction, modId: number, gameId: number, limit: number) =>
  transaction.all<{ user_id: number; own: number }>(CONCERNED, [modId, gameId, modId, limit]);

const THREAT = statement(`select f.filename, m.name as mod, g.name as game, u.email, u.language,
  (select n.detail from modfile_findings n where n.modfile_id = f.id and n.kind = 1 order by n.id limit 1) as threat
  from modfiles f join mods m on m.id = f.mod_id join games g on g.id = f.game_id join users u on u.id = ?
  where f.id = ? and f.virus_positive = 1 and u.status <> 3`);
/** The contents of a mail about a threat. Undefined once the threat is gone. */
export const threatFor = (db: Database, userId: number, fileId: number) =>
  db.first<{ filename: string; mod: string; game: string; email: string | null; language: string; threat: string }>(
    THREAT,
    [userId, fileId],
  );

const MAILED_TEAM = statement(`select t.user_id from team_members t join users u on u.id = t.user_id
  where t.resource = 'mods' and t.resource_id = ? and u.email is not null and u.status = 1 order by t.user_id`);
export const mailedTeamOf = (transaction: Transaction, modId: number) =>
  transaction.all<{ user_id: number }>(MAILED_TEAM, [modId]);

const RELEASE = statement(`select f.filename, m.name as mod, g.name as game, u.email, u.language, a.username as actor
  from modfiles f join mods m on m.id = f.mod_id join games g on g.id = f.game_id
  join users u on u.id = ? join users a on a.id = ? where f.id = ? and u.status = 1`);
/** The contents of a mail about a file that went live. */
export const releaseFor = (db: Database, fileId: number, userId: number, actorId: number) =>
  db.first<{ filename: string; mod: string; game: string; email: string | null; language: string; actor: string }>(
    RELEASE,
    [userId, actorId, fileId],
  );

const KEYS_OF_MOD = statement('select distinct storage_key from modfiles where mod_id = ? and status <> 3');
export async function keysOfMod(transaction: Transaction, modId: number): Promise<string[]> {
  const rows = await transaction.all<{ storage_key: string }>(KEYS_OF_MOD, [modId]);
  return rows.map(({ storage_key }) => storage_key);
}

/** Includes deleted files. The first two tables come first, because they reference only the files. */
const REMOVALS = [
  'delete from modfile_platforms where modfile_id in (select id from modfiles where mod_id = ?)',
  'delete from modfile_documents where modfile_id in (select id from modfiles where mod_id = ?)',
  'delete from mod_live_files where mod_id = ?',
  'delete from mod_awaited_files where mod_id = ?',
  'delete from modfiles where mod_id = ?',
].map((text) => statement(text));
export async function removeOfMod(transaction: Transaction, modId: number): Promise<void> {
  for (const removal of REMOVALS) await transaction.run(removal, [modId]);
}

export const addArrival = (query: Query, arrival: Tables['modfile_arrivals']) =>
  query.insertInto('modfile_arrivals').values(arrival).execute();

const TAKE_ARRIVAL = statement('delete from modfile_arrivals where token = ? returning token');
/** Returns false if the arrival has expired, and its bytes may be gone. */
export async function removeArrival(transaction: Transaction, token: string): Promise<boolean> {
  return (await transaction.first(TAKE_ARRIVAL, [token])) !== undefined;
}

const FORGET_ARRIVALS = statement('delete from modfile_arrivals where storage_key = ? and date_expires <= ?');
export const removeExpiredArrivals = (transaction: Transaction, key: string, now: number) =>
  transaction.run(FORGET_ARRIVALS, [key, now]);

const LAST_ARRIVAL = statement('select max(date_expires) as last from modfile_arrivals where storage_key = ?');
export async function lastArrival(transaction: Transaction, key: string): Promise<number | undefined> {
  return (await transaction.first<{ last: number | null }>(LAST_ARRIVAL, [key]))?.last ?? undefined;
}

const NAMED = statement('select id from modfiles where storage_key = ? and status <> 3 limit 1');
export async function isReferenced(reader: Reader, key: string): Promise<boolean> {
  return (await reader.first(NAMED, [key])) !== undefined;
}

/** Files that were not deleted, ordered by id. Withdrawn files need their bytes no more. */
export const storedAfter = (query: Query, id: number, limit: number) =>
  query
    .selectFrom('modfiles')
    .select(['id', 'mod_id', 'storage_key', 'filesize', 'sha256'])
    .where('id', '>', id)
    .where('status', '<>', 3)
    .where('withdrawn', '=', 0)
    .orderBy('id')
    .limit(limit)
    .execute();

const OFFERED_WITH = statement('select * from modfiles where storage_key = ? and status <> 3 and withdrawn = 0');
export const offeredWith = (transaction: Transaction, key: string) => transaction.all<ModfileRow>(OFFERED_WITH, [key]);
