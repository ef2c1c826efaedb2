import type { Selectable } from 'kysely';
import {
  type Database,
  type Statement,
  statement,
  type Tables,
  type Transaction,
  type Value,
} from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { removeInSteps, someOf, takeFrom } from '../../platform/database/removal.ts';
import type {
  MetricsChangesTable,
  MetricsDaysTable,
  MetricsModDaysTable,
  MetricsMonthsTable,
  MetricsSessionsTable,
} from './table.ts';

type Reader = Pick<Database, 'first'>;
export type SessionRow = Selectable<MetricsSessionsTable>;
export type DayRow = Selectable<MetricsDaysTable>;
export type MonthRow = Selectable<MetricsMonthsTable>;

export interface SecretRow {
  readonly sealed: string;
  readonly date_added: number;
}

const SECRET = statement('select sealed, date_added from metrics_secrets where game_id = ?');
export const secretOf = (reader: Reader, gameId: number) => reader.first<SecretRow>(SECRET, [gameId]);

const PUT_SECRET = statement(`insert into metrics_secrets (game_id, sealed, date_added) values (?, ?, ?)
  on conflict (game_id) do update set sealed = excluded.sealed, date_added = excluded.date_added`);
export const putSecret = (transaction: Transaction, gameId: number, { sealed, date_added }: SecretRow) =>
  transaction.run(PUT_SECRET, [gameId, sealed, date_added]);

const REMOVE_SECRET = statement('delete from metrics_secrets where game_id = ?');
export const removeSecret = (transaction: Transaction, gameId: number) => transaction.run(REMOVE_SECRET, [gameId]);

const ADD_REPORT_HASH = statement(`insert into metrics_seen (game_id, session_hash, date_added) values (?, ?, ?)
  on conflict (game_id, session_hash) do nothing returning date_added`);
/** Returns whether the hash is new. */
export const addReportHash = async (
  transaction: Transaction,
  gameId: number,
  hash: string,
  now: number,
): Promise<boolean> => (await transaction.first(ADD_REPORT_HASH, [gameId, hash, now])) !== undefined;

const LOCK_SESSION = withUpdateLock(statement('select * from metrics_sessions where game_id = ? and session_id = ?'));
export const lockSession = (transaction: Transaction, gameId: number, sessionId: string) =>
  transaction.first<SessionRow>(LOCK_SESSION, [gameId, sessionId]);

const ADD_SESSION = statement(`insert into metrics_sessions
  (game_id, session_id, user_id, order_id, date_started, date_last, date_ended, platform) values (?, ?, ?, ?, ?, ?, 0, ?)
  on conflict (game_id, session_id) do nothing returning id`);
/** Returns false where a session has this id already. */
export const addSession = async (
  transaction: Transaction,
  row: Omit<SessionRow, 'id' | 'date_ended' | 'date_last'>,
): Promise<boolean> => {
  const { game_id, session_id, user_id, order_id, date_started, platform } = row;
  const values = [game_id, session_id, user_id, order_id, date_started, date_started, platform];
  return (await transaction.first(ADD_SESSION, values)) !== undefined;
};

const UPDATE_SESSION = statement(
  'update metrics_sessions set order_id = ?, date_last = ?, date_ended = ? where id = ?',
);
export const updateSession = (
  transaction: Transaction,
  { id, order_id, date_last, date_ended }: Pick<SessionRow, 'id' | 'order_id' | 'date_last' | 'date_ended'>,
) => transaction.run(UPDATE_SESSION, [order_id, date_last, date_ended, id]);

export const COUNTS = [
  'downloads',
  'subscribers',
  'active_users',
  'ratings_positive',
  'ratings_negative',
  'sessions',
  'session_seconds',
] as const;
export type Counts = Record<(typeof COUNTS)[number], number>;

/** A game, or one of its platforms, which have separate tables. */
export interface Place {
  readonly gameId: number;
  /** `''` is the whole game. */
  readonly platform: string;
}

/** The parts in which the SQL for the two kinds of tables differs. */
interface Words {
  readonly metrics: string;
  /** The key columns of a place, their parameters, and the condition on them. */
  readonly key: string;
  readonly marks: string;
  readonly isHere: string;
}

const WHOLE: Words = { metrics: 'metrics', key: 'game_id', marks: 'cast(? as bigint)', isHere: 'game_id = ?' };
const PLATFORM: Words = {
  metrics: 'metrics_platform',
  key: 'game_id, platform',
  marks: 'cast(? as bigint), cast(? as text)',
  isHere: 'game_id = ? and platform = ?',
};

type TextOf = (words: Words) => string;
const inPlaces = (textOf: TextOf, onPostgres = textOf) => ({
  whole: statement(textOf(WHOLE), onPostgres(WHOLE)),
  platform: statement(textOf(PLATFORM), onPostgres(PLATFORM)),
});
type InPlaces = ReturnType<typeof inPlaces>;

const at = (statements: InPlaces, { platform }: Place): Statement =>
  platform === '' ? statements.whole : statements.platform;
const keyOf = ({ gameId, platform }: Place): Value[] => (platform === '' ? [gameId] : [gameId, platform]);

const SPANS = ['day', 'month'] as const;
type SpanName = (typeof SPANS)[number];
type TextInSpan = (words: Words, span: SpanName, active: string) => string;
function inSpans(textOf: TextInSpan, onPostgres = textOf): Record<SpanName, InPlaces> {
  const ofDay = (text: TextInSpan) => (words: Words) => text(words, 'day', `${words.metrics}_active`);
  const ofMonth = (text: TextInSpan) => (words: Words) => text(words, 'month', `${words.metrics}_active_months`);
  return {
    day: inPlaces(ofDay(textOf), ofDay(onPostgres)),
    month: inPlaces(ofMonth(textOf), ofMonth(onPostgres)),
  };
}

const ADD_TO = inSpans(({ metrics, key, marks }, span) => {
  const table = `${metrics}_${span}s`;
  return `insert into ${table} (${key}, ${span}, ${COUNTS.join(', ')})
    values (${marks}, ?, ${COUNTS.map(() => '?').join(', ')}) on conflict (${key}, ${span}) do update set
    ${COUNTS.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}`;
});

/** Adds to the day and then to its month; the fixed order prevents deadlocks. */
export async function addTo(
  transaction: Transaction,
  place: Place,
  spans: Record<SpanName, number>,
  counts: Partial<Counts>,
): Promise<void> {
  const values = COUNTS.map((name) => counts[name] ?? 0);
  for (const span of SPANS) await transaction.run(at(ADD_TO[span], place), [...keyOf(place), spans[span], ...values]);
}

/** A user or an address, and whether it counts: 0 where a user counts in the place of an address. */
export interface Activity {
  readonly who: string;
  readonly counted: number;
}

/** A day or a month of a place. */
export interface Span extends Place {
  readonly span: SpanName;
  readonly number: number;
}

const KNOWN = inSpans(
  ({ isHere }, span, active) => `with named as (select value from json_each(?))
    select who, counted from ${active} where ${isHere} and ${span} = ? and who in (select value from named)`,
  // One by one: PostgreSQL takes a day that has just begun for empty, and would compare each of its rows with each name.
  ({ isHere }, span, active) => `select a.who, a.counted from json_array_elements_text(cast(? as json)) as named (who)
    cross join lateral (select who, counted from ${active} where ${isHere} and ${span} = ? and who = named.who limit 1) a`,
);
/** Those of the users and addresses that were active, with whether they count. */
export async function activitiesOf(
  transaction: Transaction,
  where: Span,
  who: readonly string[],
): Promise<Map<string, number>> {
  const values = [JSON.stringify(who), ...keyOf(where), where.number];
  const rows = await transaction.all<Activity>(at(KNOWN[where.span], where), values);
  return new Map(rows.map((row) => [row.who, row.counted]));
}

const addingActivities =
  (rows: string): TextInSpan =>
  ({ key, marks }, span, active) =>
    `insert into ${active} (${key}, ${span}, who, counted)
    select ${marks}, cast(? as bigint), r.who, r.counted from ${rows} where true
    on conflict (${key}, ${span}, who) do nothing returning who, counted`;
const ADD_ACTIVITIES = inSpans(
  addingActivities("(select value ->> 'who' as who, value ->> 'counted' as counted from json_each(?)) r"),
  addingActivities('json_to_recordset(cast(? as json)) as r (who text, counted bigint)'),
);
/** Returns those that are the first in the span. */
export async function addActivities(transaction: Transaction, where: Span, rows: readonly Activity[]) {
  if (rows.length === 0) return [];
  const values = [...keyOf(where), where.number, JSON.stringify(rows)];
  return transaction.all<Activity>(at(ADD_ACTIVITIES[where.span], where), values);
}

const STOP_COUNTING = inSpans(
  ({ isHere }, span, active) => `update ${active} set counted = 0
    where ${isHere} and ${span} = ? and who = ? and counted = 1 returning who`,
);
/** Returns whether it counted before. */
export const stopCounting = async (transaction: Transaction, where: Span, who: string) =>
  (await transaction.first(at(STOP_COUNTING[where.span], where), [...keyOf(where), where.number, who])) !== undefined;

const ADD_ACTIVE = inSpans(
  ({ metrics, isHere }, span) =>
    `update ${metrics}_${span}s set active_users = active_users + ? where ${isHere} and ${span} = ?`,
);
export const addActive = (transaction: Transaction, where: Span, difference: number) =>
  transaction.run(at(ADD_ACTIVE[where.span], where), [difference, ...keyOf(where), where.number]);

const added = (table: string) => `downloads = ${table}.downloads + excluded.downloads,
  subscribers = ${table}.subscribers + excluded.subscribers`;
const ADD_TO_MODS = inMonths('mod_months', 'mod_id', 'r.mod_id', (rows) => rows);
const ADD_TO_CREATORS = inMonths(
  'creator_months',
  'user_id',
  'm.submitted_by',
  (rows) => `${rows} join mods m on m.id = r.mod_id`,
);

/** Adds many counts at once, given as a JSON array of `MonthChange`. */
function inMonths(table: string, column: string, value: string, from: (rows: string) => string): InPlaces {
  const of = ({ metrics, key }: Words): Statement => {
    const months = `${metrics}_${table}`;
    const fields = key === 'game_id' ? ['game_id'] : ['game_id', 'platform'];
    const columns = [...fields, 'month', 'mod_id', 'downloads', 'subscribers'];
    const group = [...fields.map((name) => `r.${name}`), 'r.month', value].join(', ');
    const textWith = (rows: string) => `insert into ${months} (${key}, month, ${column}, downloads, subscribers)
      select ${group}, sum(r.downloads), sum(r.subscribers) from ${from(rows)} where true group by ${group}
      on conflict (${key}, month, ${column}) do update set ${added(months)}`;
    const extracted = columns.map((name) => `json_extract(value, '$.${name}') as ${name}`).join(', ');
    const typed = columns.map((name) => `${name} ${name === 'platform' ? 'text' : 'bigint'}`).join(', ');
    return {
      text: textWith(`(select ${extracted} from json_each(?)) r`),
      postgres: textWith(`json_to_recordset($1::json) as r (${typed})`),
    };
  };
  return { whole: of(WHOLE), platform: of(PLATFORM) };
}

export interface MonthChange {
  readonly game_id: number;
  readonly platform: string;
  readonly month: number;
  readonly mod_id: number;
  readonly downloads: number;
  readonly subscribers: number;
}

/** Adds to the months of mods and of their submitters. `changes` are of the whole game, or of platforms. */
export async function addToMonths(transaction: Transaction, changes: readonly MonthChange[], isWhole: boolean) {
  if (changes.length === 0) return;
  const place: Place = { gameId: 0, platform: isWhole ? '' : 'any' };
  await transaction.run(at(ADD_TO_MODS, place), [JSON.stringify(changes)]);
  await transaction.run(at(ADD_TO_CREATORS, place), [JSON.stringify(changes)]);
}

export const MOD_COUNTS = ['downloads', 'subscribers', 'ratings_positive', 'ratings_negative'] as const;
export type ModCounts = Record<(typeof MOD_COUNTS)[number], number>;
export type ModDay = Selectable<MetricsModDaysTable>;

const ADD_TO_MOD_DAYS = ((): Statement => {
  const columns = ['mod_id', 'platform', 'day', ...MOD_COUNTS] as const;
  const textWith = (rows: string) => `insert into metrics_mod_days (${columns.join(', ')})
    select r.mod_id, r.platform, r.day, ${MOD_COUNTS.map((name) => `sum(r.${name})`).join(', ')} from ${rows}
    where true group by r.mod_id, r.platform, r.day order by r.mod_id, r.platform, r.day
    on conflict (mod_id, platform, day) do update set
    ${MOD_COUNTS.map((name) => `${name} = metrics_mod_days.${name} + excluded.${name}`).join(', ')}`;
  const extracted = columns.map((name) => `json_extract(value, '$.${name}') as ${name}`).join(', ');
  const typed = columns.map((name) => `${name} ${name === 'platform' ? 'text' : 'bigint'}`).join(', ');
  return {
    text: textWith(`(select ${extracted} from json_each(?)) r`),
    postgres: textWith(`json_to_recordset($1::json) as r (${typed})`),
  };
})();
/** Rows of the same mod, platform and day are summed up. */
export async function addToModDays(transaction: Transaction, rows: readonly ModDay[]): Promise<void> {
  if (rows.length > 0) await transaction.run(ADD_TO_MOD_DAYS, [JSON.stringify(rows)]);
}

const MOD_DAYS = statement(`select * from metrics_mod_days where mod_id = ? and platform = ? and day between ? and ?
  order by day`);
export const modDaysOf = (reader: Pick<Database, 'all'>, { modId, platform }: ModPlace, from: number, to: number) =>
  reader.all<ModDay>(MOD_DAYS, [modId, platform, from, to]);

/** A mod, or a mod on one platform. */
export interface ModPlace {
  readonly modId: number;
  /** `''` is all platforms. */
  readonly platform: string;
}

const CHANGE_COLUMNS = [
  ...(['game_id', 'mod_id', 'platform', 'date_added'] as const),
  ...(['downloads', 'subscribers', 'ratings_positive', 'ratings_negative', 'sessions', 'session_seconds'] as const),
  ...(['who', 'address_of_day', 'address_of_month'] as const),
] as const;
export type ChangeRow = Omit<Selectable<MetricsChangesTable>, 'id'>;

const APPEND = statement(`insert into metrics_changes (${CHANGE_COLUMNS.join(', ')})
  values (${CHANGE_COLUMNS.map(() => '?').join(', ')})`);
export const appendChange = (transaction: Transaction, change: ChangeRow) =>
  transaction.run(
    APPEND,
    CHANGE_COLUMNS.map((name) => change[name]),
  );

const PENDING = statement('select id from metrics_changes limit 1');
export const hasChanges = async (reader: Reader): Promise<boolean> => (await reader.first(PENDING, [])) !== undefined;

const TAKE = takeFrom(
  'metrics_changes',
  'select id from metrics_changes order by id limit ?',
  CHANGE_COLUMNS.join(', '),
);
export const takeChanges = (transaction: Transaction, most: number) => transaction.all<ChangeRow>(TAKE, [most]);

const BETWEEN = inSpans(
  ({ metrics, isHere }, span) =>
    `select * from ${metrics}_${span}s where ${isHere} and ${span} between ? and ? order by ${span}`,
);
export const daysOf = (reader: Pick<Database, 'all'>, place: Place, from: number, to: number) =>
  reader.all<DayRow>(at(BETWEEN.day, place), [...keyOf(place), from, to]);
export const monthsOf = (reader: Pick<Database, 'all'>, place: Place, from: number, to: number) =>
  reader.all<MonthRow>(at(BETWEEN.month, place), [...keyOf(place), from, to]);

export interface Ranked {
  readonly id: number;
  readonly name: string;
  readonly name_id: string;
  readonly downloads: number;
  readonly subscribers: number;
  /** The rank in the previous month, 0 below the first thousand. */
  readonly rank_before: number;
}

/** Ranks of the previous month are computed down to this one. */
const RANKED_BEFORE = 1_000;

/** Both months are read in index order and limited, so that the cost does not grow with the number of mods. */
const ranked = (resource: 'mod' | 'creator', column: string, table: string, name: string): InPlaces =>
  inPlaces(({ metrics, isHere }) => {
    const months = `${metrics}_${resource}_months`;
    return `with before as (select ${column}, row_number() over (order by downloads desc, ${column}) as rank from
        (select ${column}, downloads from ${months} where ${isHere} and month = ?
          order by downloads desc, ${column} limit ${RANKED_BEFORE}) first)
      select r.${column} as id, n.${name} as name, n.name_id, r.downloads, r.subscribers, coalesce(b.rank, 0) as rank_before
      from ${months} r join ${table} n on n.id = r.${column} left join before b on b.${column} = r.${column}
      where ${isHere.replaceAll(/\b(game_id|platform) =/g, 'r.$1 =')} and r.month = ? order by r.downloads desc, r.${column} limit ?`;
  });

const TOP = {
  mods: ranked('mod', 'mod_id', 'mods', 'name'),
  creators: ranked('creator', 'user_id', 'users', 'username'),
} as const;
export type Ranking = keyof typeof TOP;

export const top = (
  reader: Pick<Database, 'all'>,
  ranking: Ranking,
  place: Place,
  { month, most }: { month: number; most: number },
) => reader.all<Ranked>(at(TOP[ranking], place), [...keyOf(place), month - 1, ...keyOf(place), month, most]);

const OUTDATED_ACTIVE = inSpans(
  ({ key }, span, active) => someOf(active as keyof Tables, [key, span, 'who'], `${span} < ?`).text,
);
const OUTDATED = [
  someOf('metrics_seen', ['game_id', 'session_hash'], 'date_added < ?'),
  someOf('metrics_sessions', ['id'], 'date_last < ?'),
];
export async function removeBefore(
  db: Database,
  { second, ...spans }: { day: number; month: number; second: number },
): Promise<void> {
  for (const span of SPANS)
    for (const some of Object.values(OUTDATED_ACTIVE[span])) await removeInSteps(db, some, [spans[span]]);
  for (const some of OUTDATED) await removeInSteps(db, some, [second]);
}

const REMOVE_MOD_DAYS = statement('delete from metrics_mod_days where mod_id = ?');
const REMOVE_MOD = inPlaces(({ metrics }) => `delete from ${metrics}_mod_months where mod_id = ?`);
export async function removeMod(transaction: Transaction, modId: number): Promise<void> {
  for (const removal of Object.values(REMOVE_MOD)) await transaction.run(removal, [modId]);
  await transaction.run(REMOVE_MOD_DAYS, [modId]);
}

const MOVE_MONTHS = inPlaces(({ metrics, key }) => {
  const table = `${metrics}_creator_months`;
  return `insert into ${table} (${key}, month, user_id, downloads, subscribers)
    select ${key}, month, cast(? as bigint), downloads, subscribers from ${table} where user_id = ?
    on conflict (${key}, month, user_id) do update set ${added(table)}`;
});
const REMOVE_MONTHS = inPlaces(({ metrics }) => `delete from ${metrics}_creator_months where user_id = ?`);
/** Moves the counts of a merged account to the remaining one. */
export async function moveMonths(transaction: Transaction, from: number, to: number): Promise<void> {
  for (const move of Object.values(MOVE_MONTHS)) await transaction.run(move, [to, from]);
  for (const removal of Object.values(REMOVE_MONTHS)) await transaction.run(removal, [from]);
}
