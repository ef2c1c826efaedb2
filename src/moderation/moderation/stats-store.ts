import { type Database, statement } from '../../platform/database/database.ts';

type Reader = Pick<Database, 'first' | 'all'>;

/** As a range, SQLite would prefer it to the dates when it chooses an index. */
const BY_PEOPLE = 'user_id <> 0';

const DECIDED = statement(`select count(*) as decided, coalesce(min(date_added), 0) as first from moderation_decisions
  where game_id = ? and date_added >= ? and ${BY_PEOPLE}`);
/** Decisions of people since then, and the date of the first of them. */
export async function decidedSince(reader: Reader, gameId: number, since: number) {
  const row = (await reader.first<{ decided: number; first: number }>(DECIDED, [gameId, since]))!;
  return { decided: Number(row.decided), first: Number(row.first) };
}

const WAITS = statement(`select waited from moderation_decisions where game_id = ? and date_added >= ? and ${BY_PEOPLE}
  and waited >= 0 order by date_added desc limit 500`);
/** The median of the seconds that content waited for its decision, of the last 500. */
export async function medianWait(reader: Reader, gameId: number, since: number): Promise<number> {
  const waits = (await reader.all<{ waited: number }>(WAITS, [gameId, since])).map(({ waited }) => waited);
  return waits.toSorted((one, other) => one - other)[Math.floor((waits.length - 1) / 2)] ?? 0;
}

const counting = (action: string) =>
  `coalesce(sum(case when action = '${action}' then 1 else 0 end), 0) as "${action}"`;
const DECIDED_IN = statement(`select ${['approve', 'restore', 'deny', 'delete'].map(counting).join(', ')}
  from moderation_decisions where game_id = ? and date_added >= ? and date_added < ? and ${BY_PEOPLE}`);
/** Decisions of people in a span. Grouping a month by days would sort all of its decisions. */
export async function decidedIn(reader: Reader, gameId: number, from: number, until: number) {
  type Counted = Record<'approve' | 'restore' | 'deny' | 'delete', number>;
  const { approve, restore, deny, ...rest } = (await reader.first<Counted>(DECIDED_IN, [gameId, from, until]))!;
  return { approve: Number(approve) + Number(restore), deny: Number(deny), delete: Number(rest.delete) };
}

/** Steps from one moderator to the next in the index, so that no decision is sorted. */
const MODERATORS = statement(`with recursive moderators (user_id) as (
    select min(user_id) from moderation_decisions where game_id = ? and user_id > 0
    union all
    select (select min(n.user_id) from moderation_decisions n where n.game_id = ? and n.user_id > m.user_id)
      from moderators m where m.user_id is not null
  )
  select m.user_id, u.username, (select count(*) from moderation_decisions d
      where d.game_id = ? and d.user_id = m.user_id and d.date_added >= ?) as decided
    from moderators m left join users u on u.id = m.user_id where m.user_id is not null`);
/** Everyone with decisions since then, the most first. */
export async function decidedByModerator(reader: Reader, gameId: number, since: number) {
  type Moderator = { user_id: number; username: string | null; decided: number };
  const rows = await reader.all<Moderator>(MODERATORS, [gameId, gameId, gameId, since]);
  return rows
    .map((row) => ({ ...row, decided: Number(row.decided) }))
    .filter(({ decided }) => decided > 0)
    .sort((one, other) => other.decided - one.decided || one.user_id - other.user_id);
}

const REPORTS = statement('select count(*) as open from reports where game_id = ? and status = 0');
export const openReports = async (reader: Reader, gameId: number): Promise<number> =>
  Number((await reader.first<{ open: number }>(REPORTS, [gameId]))!.open);

const LAST_DECISION = statement(`select id from moderation_decisions where game_id = ?
  order by date_added desc, id desc limit 1`);
/** Its id; 0 if there is none. */
export const lastDecisionIn = async (reader: Reader, gameId: number): Promise<number> =>
  (await reader.first<{ id: number }>(LAST_DECISION, [gameId]))?.id ?? 0;

const CLAIMS = statement(`select count(*) as claimed, coalesce(sum(date_expires), 0) as expiries
  from moderation_claims where game_id = ? and date_expires > ?`);
/** The number of claims, and a sum that differs after one began, was renewed or ended. */
export async function claimsIn(reader: Reader, gameId: number, now: number) {
  const { claimed, expiries } = (await reader.first<{ claimed: number; expiries: number }>(CLAIMS, [gameId, now]))!;
  return { claimed: Number(claimed), expiries: Number(expiries) };
}
