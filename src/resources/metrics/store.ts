import type { Selectable } from 'kysely';
import { type Database, type Statement, statement, type Transaction } from '../../database/database.ts';
import { changing } from '../../database/locks.ts';
import type { MetricsDaysTable, MetricsMonthsTable, MetricsSessionsTable } from './table.ts';

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

const SEE = statement(`insert into metrics_seen (game_id, session_hash, date_added) values (?, ?, ?)
  on conflict (game_id, session_hash) do nothing returning date_added`);
/** Returns whether it is seen for the first time. */
export const see = async (transaction: Transaction, gameId: number, hash: string, now: number): Promise<boolean> =>
  (await transaction.first(SEE, [gameId, hash, now])) !== undefined;

const HOLD = changing(statement('select * from metrics_sessions where game_id = ? and session_id = ?'));
export const holdSession = (transaction: Transaction, gameId: number, sessionId: string) =>
  transaction.first<SessionRow>(HOLD, [gameId, sessionId]);

const ADD_SESSION = statement(`insert into metrics_sessions
  (game_id, session_id, user_id, order_id, date_started, date_last, date_ended) values (?, ?, ?, ?, ?, ?, 0)
  on conflict (game_id, session_id) do nothing returning id`);
/** Returns whether there was none of this name. */
export const addSession = async (
  transaction: Transaction,
  row: Omit<SessionRow, 'id' | 'date_ended' | 'date_last'>,
): Promise<boolean> => {
  const { game_id, session_id, user_id, order_id, date_started } = row;
  const values = [game_id, session_id, user_id, order_id, date_started, date_started];
  return (await transaction.first(ADD_SESSION, values)) !== undefined;
};

const GO_ON = statement('update metrics_sessions set order_id = ?, date_last = ?, date_ended = ? where id = ?');
export const goOn = (
  transaction: Transaction,
  { id, order_id, date_last, date_ended }: Pick<SessionRow, 'id' | 'order_id' | 'date_last' | 'date_ended'>,
) => transaction.run(GO_ON, [order_id, date_last, date_ended, id]);

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

const adding = (span: 'day' | 'month') =>
  statement(`insert into metrics_${span}s (game_id, ${span}, ${COUNTS.join(', ')})
    values (?, ?, ${COUNTS.map(() => '?').join(', ')}) on conflict (game_id, ${span}) do update set
    ${COUNTS.map((name) => `${name} = metrics_${span}s.${name} + excluded.${name}`).join(', ')}`);
const ADD_TO = { day: adding('day'), month: adding('month') } as const;

/** To the day and to its month, always in this order. */
export async function addTo(
  transaction: Transaction,
  gameId: number,
  { day, month }: { day: number; month: number },
  counts: Partial<Counts>,
): Promise<void> {
  const values = COUNTS.map((name) => counts[name] ?? 0);
  await transaction.run(ADD_TO.day, [gameId, day, ...values]);
  await transaction.run(ADD_TO.month, [gameId, month, ...values]);
}

/** A day or a month of a game. */
export interface Span {
  readonly gameId: number;
  readonly span: 'day' | 'month';
  readonly number: number;
}
const ACTIVE = { day: ['metrics_active', 'day'], month: ['metrics_active_months', 'month'] } as const;
const inSpans = (textOf: (table: string, column: string) => string) => ({
  day: statement(textOf(...ACTIVE.day)),
  month: statement(textOf(...ACTIVE.month)),
});

const ACTIVITY = inSpans(
  (table, column) => `select counted from ${table} where game_id = ? and ${column} = ? and who = ?`,
);
/** 1 where it counts, 0 where a person counts in its place, nothing where it is new. */
export const activityOf = async (reader: Reader, { gameId, span, number }: Span, who: string) =>
  (await reader.first<{ counted: number }>(ACTIVITY[span], [gameId, number, who]))?.counted;
export const isActive = async (reader: Reader, place: Span, who: string): Promise<boolean> =>
  (await activityOf(reader, place, who)) !== undefined;

const BE_ACTIVE = inSpans(
  (table, column) => `insert into ${table} (game_id, ${column}, who, counted) values (?, ?, ?, ?)
    on conflict (game_id, ${column}, who) do nothing returning who`,
);
/** Returns whether they were not active in that span before. */
export const beActive = async (
  transaction: Transaction,
  { gameId, span, number }: Span,
  who: string,
  counted: number,
) => (await transaction.first(BE_ACTIVE[span], [gameId, number, who, counted])) !== undefined;

const UNCOUNT = inSpans(
  (table, column) => `update ${table} set counted = 0 where game_id = ? and ${column} = ? and who = ? and counted = 1
    returning who`,
);
/** Returns whether it did count. */
export const uncount = async (transaction: Transaction, { gameId, span, number }: Span, who: string) =>
  (await transaction.first(UNCOUNT[span], [gameId, number, who])) !== undefined;

const ADD_ACTIVE = {
  day: statement('update metrics_days set active_users = active_users + ? where game_id = ? and day = ?'),
  month: statement('update metrics_months set active_users = active_users + ? where game_id = ? and month = ?'),
} as const;
export const addActive = (transaction: Transaction, { gameId, span, number }: Span, difference: number) =>
  transaction.run(ADD_ACTIVE[span], [difference, gameId, number]);

const ADD_TO_MOD = statement(`insert into metrics_mod_months (game_id, month, mod_id, downloads, subscribers)
  values (?, ?, ?, ?, ?) on conflict (game_id, month, mod_id) do update set
  downloads = metrics_mod_months.downloads + excluded.downloads,
  subscribers = metrics_mod_months.subscribers + excluded.subscribers`);
const ADD_TO_CREATOR = statement(`insert into metrics_creator_months (game_id, month, user_id, downloads, subscribers)
  select cast(? as bigint), cast(? as bigint), submitted_by, cast(? as bigint), cast(? as bigint) from mods where id = ?
  on conflict (game_id, month, user_id) do update set
  downloads = metrics_creator_months.downloads + excluded.downloads,
  subscribers = metrics_creator_months.subscribers + excluded.subscribers`);

/** For the mod, and for whoever submitted it. */
export async function addToMonth(
  transaction: Transaction,
  { id, game_id }: { id: number; game_id: number },
  month: number,
  { downloads = 0, subscribers = 0 }: Partial<Counts>,
): Promise<void> {
  await transaction.run(ADD_TO_MOD, [game_id, month, id, downloads, subscribers]);
  await transaction.run(ADD_TO_CREATOR, [game_id, month, downloads, subscribers, id]);
}

const DAYS = statement('select * from metrics_days where game_id = ? and day between ? and ? order by day');
export const daysOf = (reader: Pick<Database, 'all'>, gameId: number, from: number, to: number) =>
  reader.all<DayRow>(DAYS, [gameId, from, to]);

const MONTHS = statement('select * from metrics_months where game_id = ? and month between ? and ? order by month');
export const monthsOf = (reader: Pick<Database, 'all'>, gameId: number, from: number, to: number) =>
  reader.all<MonthRow>(MONTHS, [gameId, from, to]);

export interface Ranked {
  readonly id: number;
  readonly name: string;
  readonly name_id: string;
  readonly downloads: number;
  readonly subscribers: number;
  /** The place among the first thousand of the month before, and 0 for none. */
  readonly rank_before: number;
}

/** Places of the month before are looked for no further down. */
const RANKED_BEFORE = 1_000;

/** Both months come from their index in order, and no more of them than is shown, or asked for. */
const ranked = (noun: 'mod' | 'creator', column: string, table: string, name: string): Statement =>
  statement(`with before as (select ${column}, row_number() over (order by downloads desc, ${column}) as rank from
      (select ${column}, downloads from metrics_${noun}_months where game_id = ? and month = ?
        order by downloads desc, ${column} limit ${RANKED_BEFORE}) first)
    select r.${column} as id, n.${name} as name, n.name_id, r.downloads, r.subscribers, coalesce(b.rank, 0) as rank_before
    from metrics_${noun}_months r join ${table} n on n.id = r.${column} left join before b on b.${column} = r.${column}
    where r.game_id = ? and r.month = ? order by r.downloads desc, r.${column} limit ?`);

const TOP = {
  mods: ranked('mod', 'mod_id', 'mods', 'name'),
  creators: ranked('creator', 'user_id', 'users', 'username'),
} as const;
export type Ranking = keyof typeof TOP;

export const top = (
  reader: Pick<Database, 'all'>,
  ranking: Ranking,
  { gameId, month, most }: { gameId: number; month: number; most: number },
) => reader.all<Ranked>(TOP[ranking], [gameId, month - 1, gameId, month, most]);

const FORGET_ACTIVE = statement('delete from metrics_active where day < ?');
const FORGET_ACTIVE_MONTHS = statement('delete from metrics_active_months where month < ?');
const FORGET_SEEN = statement('delete from metrics_seen where date_added < ?');
const FORGET_SESSIONS = statement('delete from metrics_sessions where date_last < ?');
export async function forgetBefore(
  transaction: Transaction,
  { day, month, second }: { day: number; month: number; second: number },
): Promise<void> {
  await transaction.run(FORGET_ACTIVE, [day]);
  await transaction.run(FORGET_ACTIVE_MONTHS, [month]);
  await transaction.run(FORGET_SEEN, [second]);
  await transaction.run(FORGET_SESSIONS, [second]);
}

const REMOVE_MOD = statement('delete from metrics_mod_months where mod_id = ?');
export const removeMod = (transaction: Transaction, modId: number) => transaction.run(REMOVE_MOD, [modId]);

const MOVE_MONTHS = statement(`insert into metrics_creator_months (game_id, month, user_id, downloads, subscribers)
  select game_id, month, cast(? as bigint), downloads, subscribers from metrics_creator_months where user_id = ?
  on conflict (game_id, month, user_id) do update set
  downloads = metrics_creator_months.downloads + excluded.downloads,
  subscribers = metrics_creator_months.subscribers + excluded.subscribers`);
const REMOVE_MONTHS = statement('delete from metrics_creator_months where user_id = ?');
/** What was counted for the work of one account counts for another. */
export async function moveMonths(transaction: Transaction, from: number, to: number): Promise<void> {
  await transaction.run(MOVE_MONTHS, [to, from]);
  await transaction.run(REMOVE_MONTHS, [from]);
}
