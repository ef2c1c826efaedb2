import { type Insertable, type Selectable, sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type { ReportsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type ReportRow = Selectable<ReportsTable>;

/** The game and the author of content that can be reported. */
export interface Whereabouts {
  id: number;
  game_id: number;
  submitted_by: number;
}

const COLUMNS = 'r.id, r.game_id, r.submitted_by';
const BY_ID = {
  games: statement('select id, id as game_id, submitted_by from games where id = ?'),
  mods: statement(`select ${COLUMNS} from mods r where r.id = ?`),
  guides: statement(`select ${COLUMNS} from guides r where r.id = ?`),
  collections: statement(`select ${COLUMNS} from collections r where r.id = ?`),
  comments: statement(`select ${COLUMNS} from comments r where r.id = ? and r.date_deleted = 0 and r.withheld = 0`),
  users: statement('select id, 0 as game_id, id as submitted_by from users where id = ?'),
} as const;
export type Resource = keyof typeof BY_ID;

export const byId = (reader: Reader, resource: Resource, id: number) =>
  reader.first<Whereabouts>(BY_ID[resource], [id]);

const inGame = (table: string) =>
  statement(`select ${COLUMNS} from ${table} r join games g on g.id = r.game_id where g.name_id = ? and r.name_id = ?`);
const BY_NAME = { mods: inGame('mods'), guides: inGame('guides'), collections: inGame('collections') } as const;
export type NamedInGame = keyof typeof BY_NAME;

export const byNameInGame = (reader: Reader, resource: NamedInGame, gameName: string, name: string) =>
  reader.first<Whereabouts>(BY_NAME[resource], [gameName, name]);

const GAME_BY_NAME = statement('select id, id as game_id, submitted_by from games where name_id = ?');
export const gameByName = (reader: Reader, name: string) => reader.first<Whereabouts>(GAME_BY_NAME, [name]);

const USER_BY_NAME = statement('select id, 0 as game_id, id as submitted_by from users where name_id = ?');
export const userByName = (reader: Reader, name: string) => reader.first<Whereabouts>(USER_BY_NAME, [name]);

const GAME_NAME = statement('select name_id from games where id = ?');
export const gameName = async (reader: Reader, id: number) =>
  (await reader.first<{ name_id: string }>(GAME_NAME, [id]))?.name_id;

const COMMENTED = statement('select resource, resource_id from comments where id = ?');
/** The content of a comment. */
export const commented = (reader: Reader, id: number) =>
  reader.first<{ resource: Resource; resource_id: number }>(COMMENTED, [id]);

const SUBSCRIBED_SINCE = statement('select date_added from subscriptions where user_id = ? and mod_id = ?');
export const subscribedSince = async (reader: Reader, userId: number, modId: number) =>
  (await reader.first<{ date_added: number }>(SUBSCRIBED_SINCE, [userId, modId]))?.date_added;

const PLATFORMS_OF_GAME = statement('select platform from game_platforms where game_id = ?');
export const platformsOfGame = async (transaction: Pick<Transaction, 'all'>, gameId: number) =>
  (await transaction.all<{ platform: string }>(PLATFORMS_OF_GAME, [gameId])).map(({ platform }) => platform);

const reportsScope = (gameId: number) => `games/${gameId}/reports`;

/** Returns undefined if the user already has such an open report. */
export function add(transaction: Transaction, row: Insertable<ReportsTable>) {
  transaction.changed(reportsScope(row.game_id));
  return transaction.query
    .insertInto('reports')
    .values(row)
    .onConflict((key) => key.doNothing())
    .returning('id')
    .executeTakeFirst();
}

type Telling = Pick<ReportRow, 'user_id' | 'resource' | 'resource_id' | 'type'>;

/** Replaces the text of the user’s open report. */
export const replaceText = (
  { query }: Transaction,
  { user_id, resource, resource_id, type }: Telling,
  said: Pick<ReportRow, 'summary' | 'name' | 'contact' | 'platforms' | 'reason'>,
) =>
  query
    .updateTable('reports')
    .set(said)
    .where('status', '=', 0)
    .where('user_id', '=', user_id)
    .where('resource', '=', resource)
    .where('resource_id', '=', resource_id)
    .where('type', '=', type)
    .execute();

const FOR_CHANGE = withUpdateLock(statement('select * from reports where id = ?'));
/** On PostgreSQL this locks the report. */
export const rowForChange = (transaction: Transaction, id: number) => transaction.first<ReportRow>(FOR_CHANGE, [id]);

type Resolved = Pick<ReportRow, 'status' | 'date_resolved' | 'resolved_by' | 'resolution'>;

export async function resolve(transaction: Transaction, { id, game_id }: ReportRow, done: Resolved): Promise<void> {
  transaction.changed(reportsScope(game_id));
  await transaction.query.updateTable('reports').set(done).where('id', '=', id).execute();
}

export const resolveAll = ({ query }: Transaction, resource: string, id: number, done: Resolved) =>
  query
    .updateTable('reports')
    .set(done)
    .where('resource', '=', resource)
    .where('resource_id', '=', id)
    .where('status', '=', 0)
    .returning(['user_id', 'game_id'])
    .execute();

const REOPEN = statement(`update reports set status = 0, date_resolved = 0, resolved_by = 0, resolution = ''
  where resource = ? and resource_id = ? and status = 1 and resolved_by = ? and date_resolved = ?
  and not exists (select 1 from reports o where o.resource = reports.resource and o.resource_id = reports.resource_id
    and o.status = 0 and ((o.user_id > 0 and o.user_id = reports.user_id and o.type = reports.type)
      or (o.rule_id > 0 and o.rule_id = reports.rule_id)))
  returning user_id, game_id`);
export const reopenAll = (
  transaction: Transaction,
  resource: string,
  id: number,
  { by, at }: { readonly by: number; readonly at: number },
) => transaction.all<Pick<ReportRow, 'user_id' | 'game_id'>>(REOPEN, [resource, id, by, at]);

const COUNT = statement(`select count(*) as "all", coalesce(sum(case when status = 0 then 1 else 0 end), 0) as open
  from reports where resource = ? and resource_id = ?`);
export async function countOf(reader: Reader, resource: string, id: number): Promise<{ all: number; open: number }> {
  const { all, open } = (await reader.first<{ all: number; open: number }>(COUNT, [resource, id]))!;
  return { all: Number(all), open: Number(open) };
}

/** Open reports unless the request filters by `status`, of one game or of all. */
function within(query: Query, gameId: number | undefined, { groups }: ListRequest) {
  const all = query.selectFrom('reports as r');
  const ofGame = gameId === undefined ? all : all.where('r.game_id', '=', gameId);
  const asksStatus = groups.flat().some(({ column }) => column.name === 'status');
  return asksStatus ? ofGame : ofGame.where('r.status', '=', 0);
}

export async function list(query: Query, gameId: number | undefined, listing: Listing, request: ListRequest) {
  const wanted = narrowed(within(query, gameId, request), listing, request);
  const { total } = await wanted.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows: ReportRow[] = await paged(wanted.selectAll('r'), listing, request).execute();
  return { rows, total: Number(total) };
}

/** One row for all reports about an item, with their number. */
export async function listItems(query: Query, gameId: number | undefined, listing: Listing, request: ListRequest) {
  const grouped = narrowed(within(query, gameId, request), listing, request)
    .select(['r.resource', 'r.resource_id', 'r.game_id', 'r.author_id'])
    .select([
      sql<number>`min(r.id)`.as('id'),
      sql<number>`count(*)`.as('reports'),
      sql<number>`min(r.date_added)`.as('date_first'),
      sql<number>`max(r.date_added)`.as('date_last'),
      sql<number>`max(case when r.type = 1 then 1 else 0 end)`.as('dmca'),
    ])
    .groupBy(['r.resource', 'r.resource_id', 'r.game_id', 'r.author_id'])
    .as('q');
  const { total } = await query.selectFrom(grouped).select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await paged(query.selectFrom(grouped).selectAll('q'), { ...listing, from: 'q' }, request).execute();
  return { rows, total: Number(total) };
}

const DOUBLED_BY = statement(`delete from reports where user_id = ? and status = 0 and exists (select 1 from reports o
  where o.user_id = ? and o.status = 0 and o.resource = reports.resource and o.resource_id = reports.resource_id
  and o.type = reports.type)`);
const DOUBLED_ABOUT = statement(`delete from reports where resource = 'users' and resource_id = ? and status = 0
  and user_id > 0 and exists (select 1 from reports o where o.resource = 'users' and o.resource_id = ?
  and o.status = 0 and o.user_id = reports.user_id and o.type = reports.type)`);
/** Removes open reports that would be duplicates once the accounts are merged. */
export async function dropDoubled(transaction: Transaction, from: number, to: number): Promise<void> {
  await transaction.run(DOUBLED_BY, [from, to]);
  await transaction.run(DOUBLED_ABOUT, [from, to]);
}
