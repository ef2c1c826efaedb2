import { type Insertable, type Selectable, sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../database/listing.ts';
import type { ModerationDecisionsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type DecisionRow = Selectable<ModerationDecisionsTable>;

interface Standing {
  game_id: number;
  status: number;
  dmca: number;
  submitted_by: number;
}

const standing = (table: string) => statement(`select game_id, status, dmca, submitted_by from ${table} where id = ?`);
const STANDING = { mods: standing('mods'), guides: standing('guides') } as const;
export const standingOf = (reader: Reader, resource: keyof typeof STANDING, id: number) =>
  reader.first<Standing>(STANDING[resource], [id]);

const LAST = statement(`select * from moderation_decisions where resource = ? and resource_id = ?
  order by id desc limit 1`);
export const lastDecision = (reader: Reader, resource: string, id: number) =>
  reader.first<DecisionRow>(LAST, [resource, id]);

const APPEALED = statement(`select id from moderation_decisions where resource = ? and resource_id = ?
  and date_appealed > 0 limit 1`);
export const hasAppealed = async (reader: Reader, resource: string, id: number): Promise<boolean> =>
  (await reader.first(APPEALED, [resource, id])) !== undefined;

export const add = ({ query }: Transaction, row: Insertable<ModerationDecisionsTable>) =>
  query.insertInto('moderation_decisions').values(row).execute();

export const appeal = ({ query }: Transaction, id: number, text: string, now: number) =>
  query.updateTable('moderation_decisions').set({ appeal: text, date_appealed: now }).where('id', '=', id).execute();

const THRESHOLD = statement('select takedown_reports from games where id = ?');
export const takedownReports = async (reader: Reader, gameId: number): Promise<number> =>
  (await reader.first<{ takedown_reports: number }>(THRESHOLD, [gameId]))?.takedown_reports ?? 0;

const REPORTERS = statement(`select count(distinct user_id) as reporters from reports
  where resource = ? and resource_id = ? and status = 0 and user_id > 0`);
/** How many people have open reports about it; who was not signed in is not counted. */
export const reportersOf = async (reader: Reader, resource: string, id: number): Promise<number> =>
  Number((await reader.first<{ reporters: number }>(REPORTERS, [resource, id]))?.reporters ?? 0);

/** A mod waits once it has a file, and a guide where the game curates or has taken it back; deleted is deleted. */
const itemsOf = (gameId: number) => sql<Item>`
  select m.id, 'mods' as resource, m.name, m.submitted_by, m.status, m.dmca, m.date_added, m.date_updated from mods m
    where m.game_id = ${gameId} and (m.status = 3 or (m.status = 0
      and exists (select 1 from mod_live_files l where l.mod_id = m.id)))
  union all
  select r.id, 'guides' as resource, r.name, r.submitted_by, r.status, r.dmca, r.date_added, r.date_updated
    from guides r join games g on g.id = r.game_id
    where r.game_id = ${gameId} and (r.status = 3 or (r.status = 0 and (r.withheld = 1 or g.curation_option <> 0)))`;

interface Item {
  id: number;
  resource: string;
  name: string;
  submitted_by: number;
  status: number;
  dmca: number;
  date_added: number;
  date_updated: number;
}

/** Each with the last decision over it. What was denied waits no longer, unless its author has appealed. */
const queue = (query: Query, gameId: number) =>
  query
    .selectFrom(sql<Item>`(${itemsOf(gameId)})`.as<'q'>(sql.raw('q')))
    .leftJoin('moderation_decisions as d', (join) =>
      join.on(
        sql`d.id`,
        '=',
        sql`(select max(x.id) from moderation_decisions x where x.resource = q.resource and x.resource_id = q.id)`,
      ),
    )
    .where(sql<boolean>`(q.status = 3 or d.action is null or d.action <> 'deny' or d.date_appealed > 0)`);

export async function list(query: Query, gameId: number, listing: Listing, request: ListRequest) {
  const asksStatus = request.groups.flat().some(({ column }) => column.name === 'status');
  const all = asksStatus ? queue(query, gameId) : queue(query, gameId).where('q.status', '=', 0);
  const { total } = await narrowed(all, listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(
    narrowed(
      all
        .selectAll('q')
        .select(['d.action', 'd.reason', 'd.user_id as decided_by', 'd.date_added as date_decided', 'd.appeal']),
      listing,
      request,
    ),
    listing,
    request,
  ).execute();
  return { rows, total: Number(total) };
}

/** How many wait that came no later than it; 0 where it does not wait. */
export async function placeOf(query: Query, gameId: number, resource: string, id: number): Promise<number> {
  const waiting = () => queue(query, gameId).where('q.status', '=', 0);
  const own = await waiting()
    .select(['q.date_added', 'q.id'])
    .where('q.resource', '=', resource)
    .where('q.id', '=', id)
    .executeTakeFirst();
  if (!own) return 0;
  const { place } = await waiting()
    .select(sql<number>`count(*)`.as('place'))
    .where(
      sql<boolean>`(q.date_added < ${own.date_added} or (q.date_added = ${own.date_added} and q.id < ${own.id})
        or (q.id = ${own.id} and q.resource = ${resource}))`,
    )
    .executeTakeFirstOrThrow();
  return Number(place);
}

export async function listFiles(query: Query, gameId: number, listing: Listing, request: ListRequest) {
  const all = query
    .selectFrom('modfile_platforms as p')
    .innerJoin('modfiles as f', 'f.id', 'p.modfile_id')
    .innerJoin('mods as m', 'm.id', 'f.mod_id')
    .where('f.game_id', '=', gameId)
    .where('p.status', '=', 0)
    .where('f.status', '=', 1)
    .where('f.withdrawn', '=', 0)
    .where('m.status', '<>', 3);
  const { total } = await narrowed(all, listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(
    narrowed(
      all.select([
        'f.id',
        'f.mod_id',
        'm.name',
        'p.platform',
        'f.version',
        'f.filename',
        'f.submitted_by',
        'f.date_added',
      ]),
      listing,
      request,
    ),
    listing,
    request,
  ).execute();
  return { rows, total: Number(total) };
}
