import { type Insertable, type Selectable, sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Filter, type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import type { ModerationDecisionsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type DecisionRow = Selectable<ModerationDecisionsTable>;

interface Standing {
  game_id: number;
  status: number;
  dmca: number;
  submitted_by: number;
}

const standing = (table: string, dmca = 'dmca') =>
  statement(`select game_id, status, ${dmca}, submitted_by from ${table} where id = ?`);
/** The `status` of a comment, derived from `withheld`. */
const STATUS_OF_COMMENT = 'case withheld when 0 then 1 when 1 then 0 else 3 end';
const STANDING = {
  mods: standing('mods'),
  guides: standing('guides'),
  collections: standing('collections', '0 as dmca'),
  comments: statement(`select game_id, ${STATUS_OF_COMMENT} as status, 0 as dmca, submitted_by from comments
    where id = ? and date_deleted = 0`),
} as const;
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

/** Decisions, appeals and claims. What waits changes with the content itself. */
export const queueScope = (gameId: number) => `games/${gameId}/moderation`;

export async function add(transaction: Transaction, row: Insertable<ModerationDecisionsTable>): Promise<number> {
  transaction.changed(queueScope(row.game_id));
  const adding = transaction.query.insertInto('moderation_decisions').values(row).returning('id');
  return (await adding.executeTakeFirstOrThrow()).id;
}

/** Its snapshot goes with it. */
export async function removeDecision(transaction: Transaction, { id, game_id }: DecisionRow): Promise<void> {
  transaction.changed(queueScope(game_id));
  await transaction.query.deleteFrom('moderation_decisions').where('id', '=', id).execute();
}

export async function appeal(transaction: Transaction, { id, game_id }: DecisionRow, text: string, now: number) {
  transaction.changed(queueScope(game_id));
  const appealed = { appeal: text, date_appealed: now };
  await transaction.query.updateTable('moderation_decisions').set(appealed).where('id', '=', id).execute();
}

const THRESHOLD = statement('select takedown_reports from games where id = ?');
export const takedownReports = async (reader: Reader, gameId: number): Promise<number> =>
  (await reader.first<{ takedown_reports: number }>(THRESHOLD, [gameId]))?.takedown_reports ?? 0;

const REPORTERS = statement(`select count(distinct user_id) as reporters from reports
  where resource = ? and resource_id = ? and status = 0 and user_id > 0`);
/** The number of users with open reports about it. Anonymous reports do not count. */
export const reportersOf = async (reader: Reader, resource: string, id: number): Promise<number> =>
  Number((await reader.first<{ reporters: number }>(REPORTERS, [resource, id]))?.reporters ?? 0);

interface Item {
  id: number;
  game_id: number;
  resource: string;
  name: string;
  submitted_by: number;
  status: number;
  dmca: number;
  date_added: number;
  date_updated: number;
}

const COLUMNS = 'x.id, x.game_id, x.name, x.submitted_by, x.status, x.dmca, x.date_added, x.date_updated';

interface Branch {
  readonly resource: string;
  readonly status: 0 | 3;
  readonly from: string;
  /** The index by which `x` is counted, of one game. */
  readonly index?: string;
  /** The same items without the rest of what is known of them, faster to count. */
  readonly counted?: Pick<Branch, 'from' | 'index'>;
}

/**
 * Pending and deleted content per resource; a mod waits once it has a file, and a guide if the game curates or has
 * rejected it. States are literals, so that the partial indexes on them are used.
 */
const BRANCHES: readonly Branch[] = [
  {
    resource: 'mods',
    status: 0,
    // `mod_cards` repeats the status and the file, and has an index of exactly those that wait.
    from: `select ${COLUMNS} from mods x where x.status = 0 and exists (select 1 from mod_cards k
      where k.game_id = x.game_id and k.mod_id = x.id and k.status = 0 and k.file_id is not null)`,
    index: 'mods_waiting_by_game_and_date',
    counted: {
      from: 'select x.mod_id as id, x.game_id, x.status from mod_cards x where x.status = 0 and x.file_id is not null',
      index: 'mod_cards_waiting',
    },
  },
  { resource: 'mods', status: 3, from: `select ${COLUMNS} from mods x where x.status = 3` },
  {
    resource: 'guides',
    status: 0,
    from: `select ${COLUMNS} from guides x where x.status = 0
      and (x.withheld = 1 or exists (select 1 from games g where g.id = x.game_id and g.curation_option = 2))`,
  },
  { resource: 'guides', status: 3, from: `select ${COLUMNS} from guides x where x.status = 3` },
  ...([0, 3] as const).map((status) => ({
    resource: 'collections',
    status,
    from: `select ${COLUMNS.replace('x.dmca', '0 as dmca')} from collections x where x.status = ${status}`,
  })),
  ...(
    [
      [0, 1],
      [3, 3],
    ] as const
  ).map(([status, withheld]) => ({
    resource: 'comments',
    status,
    from: `select x.id, x.game_id, substr(x.content, 1, 100) as name, x.submitted_by, ${status} as status, 0 as dmca,
      x.date_added, x.date_added as date_updated from comments x where x.withheld = ${withheld} and x.date_deleted = 0`,
  })),
];
const PENDING = BRANCHES.filter(({ status }) => status === 0);

/**
 * Whether the last decision on `q` is such a one. The condition is that of a small index, so that the many items without
 * such decisions need no search among all of them.
 */
const isLastDecision = (condition: string) =>
  `exists (select 1 from moderation_decisions n where n.resource = q.resource and n.resource_id = q.id and ${condition}
    and not exists (select 1 from moderation_decisions later where later.resource = n.resource
      and later.resource_id = n.resource_id and later.id > n.id))`;
const IS_DENIED = isLastDecision(`n.action = 'deny' and n.date_appealed = 0`);
/** Whether the author of `q` has appealed against the last decision. */
export const IS_APPEALED = isLastDecision('n.date_appealed > 0');

/**
 * SQLite has no statistics: where many rows are counted it would use an index in the order of something else, or read
 * whole rows, which takes several times as long. PostgreSQL finds the index by itself.
 */
export const indexedBy = ({ dialect }: Pick<Database, 'dialect'>, index: string): string =>
  dialect === 'sqlite' ? ` indexed by ${index}` : '';

export type Reading = Pick<Database, 'query' | 'dialect'>;

/** Denied content waits again only if its author has appealed. */
function itemsOf(db: Reading, gameId: number | undefined, { resource, status, from }: Branch) {
  const ofGame = gameId === undefined ? sql`` : sql` and x.game_id = ${gameId}`;
  const named = from
    .replace('select ', `$&'${resource}' as resource, `)
    .replace('mod_cards k', `$&${indexedBy(db, 'mod_cards_waiting')}`);
  const all = db.query.selectFrom(sql<Item>`(${sql.raw(named)}${ofGame})`.as<'q'>(sql.raw('q')));
  return status === 3 ? all : all.where(sql.raw<boolean>(`not ${IS_DENIED}`));
}

/**
 * The same items for a page in the order of an index. PostgreSQL cannot know that nearly all pending mods have a card that
 * waits, and would join all of them for a page; with `offset 0` it looks each up.
 */
const orderedItemsOf = (db: Reading, gameId: number | undefined, branch: Branch) =>
  itemsOf(db, gameId, {
    ...branch,
    from: db.dialect === 'postgres' ? branch.from.replace('k.file_id is not null', '$& offset 0') : branch.from,
  });

/** The same items, all of which are read. The index begins with the game. */
function indexedItemsOf(db: Reading, gameId: number | undefined, { index, ...branch }: Branch) {
  if (index === undefined || gameId === undefined) return itemsOf(db, gameId, branch);
  return itemsOf(db, gameId, { ...branch, from: branch.from.replace(' x ', ` x${indexedBy(db, index)} `) });
}

/** The same items to be counted: only `id`, `resource`, `game_id` and `status` are there to filter by. */
const countedItemsOf = (db: Reading, gameId: number | undefined, branch: Branch) =>
  indexedItemsOf(db, gameId, { ...branch, ...branch.counted });

const withClaims = (items: ReturnType<typeof itemsOf>, now: number) =>
  items.leftJoin('moderation_claims as c', (join) =>
    join
      .on(sql`c.resource`, '=', sql`q.resource`)
      .on(sql`c.resource_id`, '=', sql`q.id`)
      .on('c.date_expires', '>', now),
  );

/** Whether the request’s filters can match this value. If unsure it returns true, and the database decides. */
function admits({ groups }: ListRequest, name: string, value: string | number): boolean {
  const isOut = ({ column, operator, values }: Filter) =>
    column.name === name &&
    (operator === 'eq' || operator === 'in') &&
    !values.some((each) => `${each}` === `${value}`);
  return !groups.some((group) => group.every(isOut));
}

function branchesFor(request: ListRequest): readonly Branch[] {
  const asksStatus = request.groups.flat().some(({ column }) => column.name === 'status');
  return BRANCHES.filter(
    ({ resource, status }) =>
      admits(request, 'resource', resource) && (asksStatus ? admits(request, 'status', status) : status === 0),
  );
}

/** Whether nearly every item passes the filters, except for those of which no resource does. */
const isPlain = ({ groups }: ListRequest): boolean =>
  groups.flat().every(({ column }) => ['resource', 'status', 'game_id'].includes(column.name));

/** Filters by what the rest of an item says need all of it. */
const isCounted = ({ groups }: ListRequest): boolean =>
  !groups.flat().some(({ column }) => ['submitted_by', 'dmca', 'date_added'].includes(column.name));

/**
 * Queries each resource for as many rows as the page needs and merges them here, because the database would sort a
 * union of all as a whole.
 */
export async function list(
  db: Reading,
  gameId: number | undefined,
  listing: Listing,
  request: ListRequest,
  now: number,
) {
  const branches = branchesFor(request);
  const asksClaims = request.groups.flat().some(({ column }) => column.name === 'claimed_by');
  const toCount = isCounted(request) ? countedItemsOf : indexedItemsOf;
  const claimed = (items: ReturnType<typeof itemsOf>, { resource }: Branch) => {
    const joined = withClaims(items, now);
    if (admits(request, 'claimed_by', 0)) return joined;
    // There are few claims, and the databases begin with them or pass over the rest quickly.
    const claims = sql`select y.resource_id from moderation_claims y where y.resource = ${resource} and y.date_expires > ${now}`;
    return joined.where(sql<boolean>`q.id in (${claims})`);
  };
  const counted = branches.map((branch) =>
    toCount(db, gameId, branch).$if(asksClaims, (items) => claimed(items, branch)),
  );
  const total = await sumOf(
    db.query,
    counted.map((items) => narrowed(items, listing, request)),
  );
  const found: Place[] = [];
  for (const branch of branches) {
    const toPage = isPlain(request) ? orderedItemsOf : itemsOf;
    const items = toPage(db, gameId, branch).$if(asksClaims, (all) => claimed(all, branch));
    found.push(...(await firstOf(narrowed(items, listing, request), listing, request)));
  }
  const page = found.sort(inOrderOf(request)).slice(request.offset, request.offset + request.limit);
  return { rows: await detailsOf(db, branches, page, now), total };
}

/** The total number of rows. */
async function sumOf(query: Query, each: readonly ReturnType<typeof itemsOf>[]): Promise<number> {
  if (each.length === 0) return 0;
  const counts = each.map((items) => items.select(sql<number>`count(*)`.as('total')));
  const { rows } = await sql<{ total: number }>`select ${sql.join(counts, sql` + `)} as total`.execute(query);
  return Number(rows[0]!.total);
}

type Place = Pick<Item, 'resource' | 'id' | 'date_added' | 'date_updated'>;

/** As many as there are up to the end of the page. */
const firstOf = (items: ReturnType<typeof itemsOf>, listing: Listing, request: ListRequest): Promise<Place[]> =>
  paged(items.select(['q.resource', 'q.id', 'q.date_added', 'q.date_updated']), listing, {
    ...request,
    offset: 0,
    limit: request.offset + request.limit,
  }).execute();

/** These items, each with its last decision and its claim. One that no longer waits is left out. */
async function detailsOf(db: Reading, branches: readonly Branch[], page: readonly Place[], now: number) {
  const details = new Map<string, Awaited<ReturnType<typeof detailsIn>>[number]>();
  for (const branch of branches) {
    const ids = page.filter(({ resource }) => resource === branch.resource).map(({ id }) => id);
    for (const row of ids.length > 0 ? await detailsIn(db, branch, ids, now) : [])
      details.set(`${row.resource}/${row.id}`, row);
  }
  return page.flatMap(({ resource, id }) => details.get(`${resource}/${id}`) ?? []);
}

const detailsIn = (db: Reading, branch: Branch, ids: readonly number[], now: number) =>
  withClaims(itemsOf(db, undefined, branch), now)
    .leftJoin('moderation_decisions as d', (join) =>
      join.on(
        sql`d.id`,
        '=',
        sql`(select max(y.id) from moderation_decisions y where y.resource = q.resource and y.resource_id = q.id)`,
      ),
    )
    .selectAll('q')
    .select(['d.action', 'd.reason', 'd.user_id as decided_by', 'd.date_added as date_decided', 'd.appeal'])
    .select(['c.user_id as claimed_by', 'c.date_expires as date_claim_expires'])
    .where('q.id', 'in', ids)
    .execute();

/** Sort columns are numeric. Equal values are sorted by id, and equal ids by resource. */
function inOrderOf({ sort }: ListRequest) {
  const column = (sort?.sql.replace('q.', '') ?? 'id') as 'id' | 'date_added' | 'date_updated';
  const direction = sort?.descending ? -1 : 1;
  return (one: Place, other: Place): number =>
    direction * (one[column] - other[column]) || one.id - other.id || (one.resource < other.resource ? -1 : 1);
}

const oldestFirst = (one: Omit<Place, 'date_updated'>, other: Omit<Place, 'date_updated'>): number =>
  one.date_added - other.date_added || one.id - other.id || (one.resource < other.resource ? -1 : 1);

/** The number of pending items up to and including this one; 0 if it does not wait. */
export async function placeOf(db: Reading, gameId: number, resource: string, id: number): Promise<number> {
  const branch = PENDING.find((each) => each.resource === resource)!;
  const own = await itemsOf(db, gameId, branch)
    .select(['q.date_added', 'q.id'])
    .where('q.id', '=', id)
    .executeTakeFirst();
  if (!own) return 0;
  // Equal dates and ids are of different resources, and in the order of their names.
  const upTo = (each: Branch) => sql<boolean>`q.date_added <= ${own.date_added} and (q.date_added < ${own.date_added}
    or q.id < ${own.id}${each.resource <= resource ? sql` or q.id = ${own.id}` : sql``})`;
  return sumOf(
    db.query,
    PENDING.map((each) => indexedItemsOf(db, gameId, each).where(upTo(each))),
  );
}

interface Taking {
  readonly userId: number;
  readonly resource: string | undefined;
  readonly count: number;
  readonly now: number;
}

/** The pending items that this moderator has claimed, then the oldest that nobody has. */
export async function claimable(db: Reading, gameId: number, { userId, resource, count, now }: Taking) {
  const found: Pick<Item, 'resource' | 'id' | 'date_added'>[][] = [[], []];
  for (const branch of PENDING.filter((each) => resource === undefined || each.resource === resource)) {
    const items = withClaims(itemsOf(db, gameId, branch), now)
      .select(['q.resource', 'q.id', 'q.date_added'])
      .orderBy('q.date_added')
      .orderBy('q.id')
      .limit(count);
    found[0]!.push(...(await items.where('c.user_id', '=', userId).execute()));
    found[1]!.push(...(await items.where('c.user_id', 'is', null).execute()));
  }
  return found.flatMap((items) => items.sort(oldestFirst)).slice(0, count);
}

/** The number of pending items, up to so many of each resource. */
export async function countWaiting(db: Reading, gameId: number, most: number): Promise<number> {
  let waiting = 0;
  for (const branch of PENDING) {
    const some = countedItemsOf(db, gameId, branch).select('q.id').limit(most);
    const { count } = await db.query
      .selectFrom(some.as('w'))
      .select(sql<number>`count(*)`.as('count'))
      .executeTakeFirstOrThrow();
    waiting += Number(count);
  }
  return waiting;
}

/**
 * Per resource the number of pending items, of those that wait at most so many seconds, and the oldest date. Dates are
 * read only of the newest and the oldest.
 */
export async function waitingByResource(db: Reading, gameId: number, now: number, ages: readonly number[]) {
  const found: { resource: string; count: number; upTo: readonly number[]; oldest: number }[] = [];
  for (const branch of PENDING) {
    const items = indexedItemsOf(db, gameId, branch);
    const newest = items
      .where('q.date_added', '>=', now - Math.max(...ages))
      .select(
        ages.map((age) =>
          sql<number>`coalesce(sum(case when q.date_added >= ${now - age} then 1 else 0 end), 0)`.as(`within_${age}`),
        ),
      );
    const row = await db.query
      .selectFrom(newest.as('newest'))
      .selectAll()
      .select([
        countedItemsOf(db, gameId, branch).select(sql<number>`count(*)`.as('count')).as('count'),
        orderedItemsOf(db, gameId, branch).select('q.date_added').orderBy('q.date_added').limit(1).as('oldest'),
      ])
      .executeTakeFirstOrThrow();
    const counted = row as Record<string, number | null>;
    const upTo = ages.map((age) => Number(counted[`within_${age}`]));
    found.push({ resource: branch.resource, count: Number(row.count), upTo, oldest: Number(row.oldest) });
  }
  return found;
}
