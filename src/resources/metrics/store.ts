import type { Selectable } from 'kysely';
import { type Database, type Statement, statement, type Transaction } from '../../database/database.ts';
import type { MetricsDaysTable, MetricsSessionsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type SessionRow = Selectable<MetricsSessionsTable>;
export type DayRow = Selectable<MetricsDaysTable>;

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

const SESSION = 'select * from metrics_sessions where game_id = ? and session_id = ?';
const HOLD: Statement = { text: SESSION, postgres: `${statement(SESSION).postgres} for update` };
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

const ADD_TO_DAY = statement(`insert into metrics_days (game_id, day, ${COUNTS.join(', ')})
  values (?, ?, ${COUNTS.map(() => '?').join(', ')}) on conflict (game_id, day) do update set
  ${COUNTS.map((name) => `${name} = metrics_days.${name} + excluded.${name}`).join(', ')}`);
export const addToDay = (transaction: Transaction, gameId: number, day: number, counts: Partial<Counts>) =>
  transaction.run(ADD_TO_DAY, [gameId, day, ...COUNTS.map((name) => counts[name] ?? 0)]);

const IS_ACTIVE = statement('select day from metrics_active where game_id = ? and day = ? and who = ?');
export const isActive = async (reader: Reader, gameId: number, day: number, who: string): Promise<boolean> =>
  (await reader.first(IS_ACTIVE, [gameId, day, who])) !== undefined;

const BE_ACTIVE = statement(`insert into metrics_active (game_id, day, who) values (?, ?, ?)
  on conflict (game_id, day, who) do nothing returning day`);
/** Returns whether they were not active on that day before. */
export const beActive = async (transaction: Transaction, gameId: number, day: number, who: string): Promise<boolean> =>
  (await transaction.first(BE_ACTIVE, [gameId, day, who])) !== undefined;

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

export interface Ranked {
  readonly id: number;
  readonly name: string;
  readonly name_id: string;
  readonly downloads: number;
  readonly subscribers: number;
  /** The place in the month before, and 0 for none. */
  readonly rank_before: number;
}

const ranked = (noun: 'mod' | 'creator', column: string, table: string, name: string): Statement =>
  statement(`select r.${column} as id, n.${name} as name, n.name_id, r.downloads, r.subscribers,
    coalesce((select (select count(*) + 1 from metrics_${noun}_months a where a.game_id = b.game_id and a.month = b.month
      and (a.downloads > b.downloads or (a.downloads = b.downloads and a.${column} < b.${column})))
      from metrics_${noun}_months b where b.game_id = r.game_id and b.month = ? and b.${column} = r.${column}), 0)
      as rank_before
    from metrics_${noun}_months r join ${table} n on n.id = r.${column}
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
) => reader.all<Ranked>(TOP[ranking], [month - 1, gameId, month, most]);

const FORGET_ACTIVE = statement('delete from metrics_active where day < ?');
const FORGET_SEEN = statement('delete from metrics_seen where date_added < ?');
const FORGET_SESSIONS = statement('delete from metrics_sessions where date_last < ?');
export async function forgetBefore(transaction: Transaction, { day, second }: { day: number; second: number }) {
  await transaction.run(FORGET_ACTIVE, [day]);
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
