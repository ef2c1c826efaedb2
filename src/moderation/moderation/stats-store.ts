import { type Database, statement } from '../../platform/database/database.ts';

type Reader = Pick<Database, 'first' | 'all'>;

const DAY = 86_400;

/** As a range, SQLite would prefer it to the dates when it chooses an index. */
const BY_PEOPLE = 'user_id <> 0';

/** Whole days are stored, so only the rest of the first one is counted. */
const firstWholeDay = (since: number) => Math.ceil(since / DAY) * DAY;

const DECIDED = statement(`select
  (select coalesce(sum(decisions), 0) from moderation_days where game_id = ? and day >= ?) as stored,
  (select count(*) from moderation_decisions
    where game_id = ? and date_added >= ? and date_added < ? and ${BY_PEOPLE}) as counted,
  (select date_added from moderation_decisions where game_id = ? and date_added >= ? and ${BY_PEOPLE}
    order by date_added limit 1) as first`);
/** Decisions of people since then, and the date of the first of them. */
export async function decidedSince(reader: Reader, gameId: number, since: number) {
  const whole = firstWholeDay(since);
  const values = [gameId, whole, gameId, since, whole, gameId, since];
  const row = (await reader.first<{ stored: number; counted: number; first: number | null }>(DECIDED, values))!;
  return { decided: Number(row.stored) + Number(row.counted), first: row.first ?? 0 };
}

const WAITS = statement(`select waited from moderation_decisions where game_id = ? and date_added >= ? and ${BY_PEOPLE}
  and waited >= 0 order by date_added desc limit 500`);
/** The median of the seconds that content waited for its decision, of the last 500. */
export async function medianWait(reader: Reader, gameId: number, since: number): Promise<number> {
  const waits = (await reader.all<{ waited: number }>(WAITS, [gameId, since])).map(({ waited }) => waited);
  return waits.toSorted((one, other) => one - other)[Math.floor((waits.length - 1) / 2)] ?? 0;
}

const DAYS = statement(`select day, action, sum(decisions) as decisions from moderation_days
  where game_id = ? and day >= ? group by day, action`);
/** Decisions of people by day, of the days that have any. */
export async function decidedByDay(reader: Reader, gameId: number, since: number) {
  type Counted = { day: number; action: string; decisions: number };
  const days = new Map<number, Record<string, number>>();
  for (const { day, action, decisions } of await reader.all<Counted>(DAYS, [gameId, since]))
    days.set(day, { ...days.get(day), [action]: Number(decisions) });
  return days;
}

/** Who decided on the first day is known from the whole of it, and each is counted in the index of moderators. */
const MODERATORS = statement(`select m.user_id, u.username, sum(m.decisions) as decided from (
    select user_id, decisions from moderation_days where game_id = ? and day >= ?
    union all
    select f.user_id, (select count(*) from moderation_decisions d where d.game_id = ? and d.user_id = f.user_id
        and d.date_added >= ? and d.date_added < ?) as decisions
      from (select distinct user_id from moderation_days where game_id = ? and day = ?) f
  ) m left join users u on u.id = m.user_id group by m.user_id, u.username`);
/** Everyone with decisions since then, the most first. */
export async function decidedByModerator(reader: Reader, gameId: number, since: number) {
  type Moderator = { user_id: number; username: string | null; decided: number };
  const whole = firstWholeDay(since);
  const values = [gameId, whole, gameId, since, whole, gameId, whole - DAY];
  return (await reader.all<Moderator>(MODERATORS, values))
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
