import { sql } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';

type Reader = Pick<Database, 'first' | 'all'>;

const DECIDED = statement(`select count(*) as decided, coalesce(min(date_added), 0) as first from moderation_decisions
  where game_id = ? and date_added >= ? and user_id > 0`);
/** Decisions of people since then, and the date of the first of them. */
export async function decidedSince(reader: Reader, gameId: number, since: number) {
  const row = (await reader.first<{ decided: number; first: number }>(DECIDED, [gameId, since]))!;
  return { decided: Number(row.decided), first: Number(row.first) };
}

const WAITS = statement(`select waited from moderation_decisions where game_id = ? and date_added >= ? and user_id > 0
  and waited >= 0 order by date_added desc limit 500`);
/** The median of the seconds that content waited for its decision, of the last 500. */
export async function medianWait(reader: Reader, gameId: number, since: number): Promise<number> {
  const waits = (await reader.all<{ waited: number }>(WAITS, [gameId, since])).map(({ waited }) => waited);
  return waits.toSorted((one, other) => one - other)[Math.floor((waits.length - 1) / 2)] ?? 0;
}

const counting = (action: string) =>
  `coalesce(sum(case when action = '${action}' then 1 else 0 end), 0) as "${action}"`;
const DECIDED_IN = statement(`select ${['approve', 'restore', 'deny', 'delete'].map(counting).join(', ')}
  from moderation_decisions where game_id = ? and date_added >= ? and date_added < ? and user_id > 0`);
/** Decisions of people in a span. Grouping a month by days would sort all of its decisions. */
export async function decidedIn(reader: Reader, gameId: number, from: number, until: number) {
  type Counted = Record<'approve' | 'restore' | 'deny' | 'delete', number>;
  const { approve, restore, deny, ...rest } = (await reader.first<Counted>(DECIDED_IN, [gameId, from, until]))!;
  return { approve: Number(approve) + Number(restore), deny: Number(deny), delete: Number(rest.delete) };
}

const MODERATORS_MAX = 50;
/** The moderators with the most decisions. Only they are looked up, not the moderator of each decision. */
export async function decidedByModerator(query: Query, gameId: number, since: number) {
  const busiest = query
    .selectFrom('moderation_decisions')
    .where('game_id', '=', gameId)
    .where('date_added', '>=', since)
    .where('user_id', '>', 0)
    .groupBy('user_id')
    .select(['user_id', sql<number>`count(*)`.as('decided')])
    .orderBy(sql`count(*)`, 'desc')
    .orderBy('user_id')
    .limit(MODERATORS_MAX);
  const rows = await query
    .selectFrom(busiest.as('d'))
    .leftJoin('users as u', 'u.id', 'd.user_id')
    .select(['d.user_id', 'u.username', 'd.decided'])
    .orderBy('d.decided', 'desc')
    .orderBy('d.user_id')
    .execute();
  return rows.map((row) => ({ ...row, decided: Number(row.decided) }));
}

const REPORTS = statement('select count(*) as open from reports where game_id = ? and status = 0');
export const openReports = async (reader: Reader, gameId: number): Promise<number> =>
  Number((await reader.first<{ open: number }>(REPORTS, [gameId]))!.open);

const LAST_DECISION = statement('select coalesce(max(id), 0) as last from moderation_decisions where game_id = ?');
export const lastDecisionIn = async (reader: Reader, gameId: number): Promise<number> =>
  Number((await reader.first<{ last: number }>(LAST_DECISION, [gameId]))!.last);

const CLAIMS = statement(`select count(*) as claimed, coalesce(sum(date_expires), 0) as expiries
  from moderation_claims where game_id = ? and date_expires > ?`);
/** The number of claims, and a sum that differs after one began, was renewed or ended. */
export async function claimsIn(reader: Reader, gameId: number, now: number) {
  const { claimed, expiries } = (await reader.first<{ claimed: number; expiries: number }>(CLAIMS, [gameId, now]))!;
  return { claimed: Number(claimed), expiries: Number(expiries) };
}
