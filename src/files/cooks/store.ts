import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Transaction,
  updateOf,
  type Value,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { skipLocked, withUpdateLock } from '../../platform/database/locks.ts';
import type { CooksTable } from './table.ts';

export type CookRow = Selectable<CooksTable>;
/** A cook with the fields of its source that the API shows. */
export interface ShownCook extends CookRow {
  readonly filename: string;
  readonly filesize: number;
  readonly version: string | null;
}

type Reader = Pick<Database, 'first'>;

const SHOWN = 'select c.*, f.filename, f.filesize, f.version from cooks c join modfiles f on f.id = c.source_id';
const BY_UUID = statement(`${SHOWN} where c.cook_uuid = ?`);
export const byUuid = (reader: Reader, uuid: string) => reader.first<ShownCook>(BY_UUID, [uuid]);

const BY_CLAIM = statement(`${SHOWN} where c.claim = ?`);
export const byClaim = (reader: Reader, claim: string) => reader.first<ShownCook>(BY_CLAIM, [claim]);

/** On PostgreSQL this locks the cook. */
const FOR_CHANGE = withUpdateLock(statement(`${SHOWN} where c.id = ?`), 'c');
export const forChange = (transaction: Transaction, id: number) => transaction.first<ShownCook>(FOR_CHANGE, [id]);

const OPEN_FOR = statement(`${SHOWN} where c.source_id = ? and c.platform = ? and c.status < 2`);
export const openFor = (transaction: Transaction, sourceId: number, platform: string) =>
  transaction.first<ShownCook>(OPEN_FOR, [sourceId, platform]);

const OPEN_OF = {
  mod_id: statement('select id from cooks where mod_id = ? and status < 2 order by id'),
  source_id: statement('select id from cooks where source_id = ? and status < 2 order by id'),
  runner_id: statement('select id from cooks where runner_id = ? and status = 1 order by id'),
};
/** Waiting and running cooks. */
export const openOf = (transaction: Transaction, what: keyof typeof OPEN_OF, id: number) =>
  transaction.all<{ id: number }>(OPEN_OF[what], [id]);

const NEWER = statement(`select id from cooks where mod_id = ? and platform = ? and source_id > ? and status = 2
  limit 1`);
/** Whether a newer source has already been cooked for the platform. */
export const isOutdated = async (transaction: Transaction, cook: CookRow): Promise<boolean> =>
  (await transaction.first(NEWER, [cook.mod_id, cook.platform, cook.source_id])) !== undefined;

export async function add(transaction: Transaction, row: Insertable<CooksTable>): Promise<ShownCook> {
  const { id } = await transaction.query.insertInto('cooks').values(row).returning('id').executeTakeFirstOrThrow();
  return (await forChange(transaction, id))!;
}

export async function change(transaction: Transaction, id: number, set: Updateable<CooksTable>): Promise<ShownCook> {
  const columns = Object.entries(set) as [string, Value][];
  const update = updateOf(
    'cooks',
    columns.map(([name]) => name),
  );
  await transaction.first(update, [...columns.map(([, value]) => value), id]);
  return (await forChange(transaction, id))!;
}

/** The game and the platforms of a runner that asks for a cook. */
export interface Wanted {
  readonly gameId: number;
  readonly platforms: readonly string[];
  readonly now: number;
}

/** Without a lock: whether claiming is worth a transaction. */
export const hasWork = async (query: Query, { gameId, platforms, now }: Wanted): Promise<boolean> =>
  (await query
    .selectFrom('cooks')
    .select('id')
    .where('game_id', '=', gameId)
    .where('platform', 'in', platforms)
    .where((eb) => eb.or([eb('status', '=', 0), eb('status', '=', 1).and('date_lease', '<=', now)]))
    .limit(1)
    .executeTakeFirst()) !== undefined;

/**
 * The oldest waiting cook whose source is available and whose build, if the game has one, can be downloaded. With
 * `scanned` both must have passed a scan.
 */
export async function nextWaiting(
  { query }: Transaction,
  dialect: Database['dialect'],
  { gameId, platforms }: Wanted,
  scanned: boolean,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`select c.id from cooks c
    join modfiles f on f.id = c.source_id join mods m on m.id = c.mod_id
    where c.game_id = ${gameId} and c.status = 0 and c.platform in (${sql.join(platforms)})
      and f.status = 1 and f.withdrawn = 0 and f.virus_positive <> 1 and m.status <> 3
      ${scanned ? sql`and f.virus_status = 1` : sql``}
      and not exists (select 1 from cook_builds b where b.game_id = c.game_id and b.is_live = 1
        and (b.virus_positive = 1 ${scanned ? sql`or b.virus_status <> 1` : sql``}))
    order by c.id limit 1 ${skipLocked(dialect, 'c')}`.execute(query);
  return rows[0]?.id;
}

/** Cooks whose lease has expired, of one game or of all. */
export async function expired(
  { query }: Transaction,
  dialect: Database['dialect'],
  now: number,
  gameId?: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select c.id from cooks c where c.status = 1 and c.date_lease <= ${now}
    ${gameId === undefined ? sql`` : sql`and c.game_id = ${gameId}`}
    order by c.id limit 100 ${skipLocked(dialect, 'c')}`.execute(query);
  return rows.map(({ id }) => id);
}

/** Cooks whose source was deleted or taken down. */
export async function stranded({ query }: Transaction, dialect: Database['dialect']): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select c.id from cooks c join modfiles f on f.id = c.source_id
    where c.status < 2 and (f.status <> 1 or f.withdrawn = 1)
    order by c.id limit 100 ${skipLocked(dialect, 'c')}`.execute(query);
  return rows.map(({ id }) => id);
}

export async function list(
  query: Query,
  { gameId, modId }: { readonly gameId: number; readonly modId?: number },
  listing: Listing,
  request: ListRequest,
): Promise<{ rows: ShownCook[]; total: number }> {
  const wanted = () => {
    const all = query
      .selectFrom('cooks as c')
      .innerJoin('modfiles as f', 'f.id', 'c.source_id')
      .where('c.game_id', '=', gameId);
    return narrowed(modId === undefined ? all : all.where('c.mod_id', '=', modId), listing, request);
  };
  const { total } = await wanted()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(
    wanted().selectAll('c').select(['f.filename', 'f.filesize', 'f.version']),
    listing,
    request,
  ).execute();
  return { rows: rows as ShownCook[], total: Number(total) };
}

/** The last lines of each cook’s log, oldest first. */
export async function logsOf(query: Query, ids: readonly number[], most: number): Promise<Map<number, string[]>> {
  const logs = new Map<number, string[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return logs;
  const { rows } = await sql<{ cook_id: number; line: string }>`select cook_id, line from (
      select id, cook_id, line, row_number() over (partition by cook_id order by id desc) as place
      from cook_logs where cook_id in (${sql.join(ids)})) l
    where place <= ${most} order by id`.execute(query);
  for (const { cook_id, line } of rows) logs.get(cook_id)!.push(line);
  return logs;
}

export async function addLogs(query: Query, cookId: number, lines: readonly string[]): Promise<void> {
  if (lines.length > 0)
    await query
      .insertInto('cook_logs')
      .values(lines.map((line) => ({ cook_id: cookId, line })))
      .execute();
}

const TRIM = statement(`delete from cook_logs where cook_id = ? and id <= (
  select id from cook_logs where cook_id = ? order by id desc limit 1 offset ?)`);
/** Deletes all but the newest lines. */
export const trimLogs = (transaction: Transaction, cookId: number, kept: number) =>
  transaction.run(TRIM, [cookId, cookId, kept]);

const FORGET_LOGS = statement(`delete from cook_logs where cook_id in (
  select id from cooks where status >= 2 and date_updated <= ?)`);
export const forgetLogs = (transaction: Transaction, until: number) => transaction.run(FORGET_LOGS, [until]);

const REMOVALS = [
  'delete from cook_logs where cook_id in (select id from cooks where mod_id = ?)',
  'delete from cooks where mod_id = ?',
].map((text) => statement(text));
export async function removeOfMod(transaction: Transaction, modId: number): Promise<void> {
  for (const removal of REMOVALS) await transaction.run(removal, [modId]);
}

const COOKING = statement(`select g.cloud_cooking_status, r.platforms from games g
  left join cook_runners r on r.game_id = g.id and r.date_revoked = 0 where g.id = ?`);
/** The platforms of the game’s runners, and its cloud cooking status. */
export async function cookingOf(transaction: Transaction, gameId: number) {
  const rows = await transaction.all<{ cloud_cooking_status: number; platforms: string | null }>(COOKING, [gameId]);
  const platforms = rows.flatMap(({ platforms }) => platforms?.split(' ') ?? []);
  return { status: rows[0]?.cloud_cooking_status ?? 0, platforms: new Set(platforms) };
}
