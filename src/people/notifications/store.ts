import { type Selectable, sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { USER } from '../../platform/database/people.ts';
import type { NotificationLettersTable, NotificationsTable } from './table.ts';

/** Changes with the notifications of one user, or of those from the first to the last. */
const notificationsScope = (firstId: number, lastId = firstId) => `notifications/${firstId}-${lastId}`;

export function concernsNotificationsOf(userId: number, scope: string): boolean {
  const [, firstId, lastId] = /^notifications\/(\d+)-(\d+)$/.exec(scope) ?? [];
  return firstId !== undefined && Number(firstId) <= userId && userId <= Number(lastId);
}

export type NotificationRow = Selectable<NotificationsTable>;
export type LetterRow = Selectable<NotificationLettersTable>;
export type NewNotification = Omit<NotificationRow, 'id' | 'user_id' | 'is_read' | 'date_mail' | 'letter_id'>;

type Reader = Pick<Database, 'first' | 'all'>;

/** Daily mails are sent from 06:00 UTC on, spread over an hour by user id. */
const DIGEST_AT = '(21600 + u.id % 3600)';
const nextDigest = (now: string) => `((${now} - ${DIGEST_AT}) / 86400 + 1) * 86400 + ${DIGEST_AT}`;

/** Inserts for the users in `people` who have not switched the kind off or blocked or muted the actor. */
const adding = (people: string, which: string) =>
  statement(`insert into notifications
    (user_id, kind, actor_id, resource, resource_id, game_id, comment_id, date_added, is_read, date_mail, letter_id)
    select u.id, w.kind, w.actor_id, w.resource, w.resource_id, w.game_id, w.comment_id, w.date_added, 0,
      case when u.email is null or u.status <> 1 then 0
        when coalesce(o.mode, w.usual) = 'email' then w.date_added
        when coalesce(o.mode, w.usual) = 'digest' then ${nextDigest('w.date_added')}
        else 0 end, 0
    from (select cast(? as text) as kind, cast(? as bigint) as actor_id, cast(? as text) as resource,
      cast(? as bigint) as resource_id, cast(? as bigint) as game_id, cast(? as bigint) as comment_id,
      cast(? as bigint) as date_added, cast(? as text) as usual) w
    cross join ${people}
    left join notification_modes o on o.user_id = u.id and o.kind = w.kind
    where ${which} and coalesce(o.mode, w.usual) <> 'off' and u.id <> w.actor_id
      and not exists (select 1 from blocks b where b.user_id = u.id and b.blocked_id = w.actor_id)
      and not exists (select 1 from mutes m where m.user_id = u.id and m.muted_id = w.actor_id)
    on conflict (user_id, kind, actor_id, resource, resource_id, comment_id) do nothing returning id, date_mail`);

const parametersOf = (row: NewNotification, usual: string) => [
  row.kind,
  row.actor_id,
  row.resource,
  row.resource_id,
  row.game_id,
  row.comment_id,
  row.date_added,
  usual,
];

const ADD = adding('users u', 'u.id = ?');
/** Returns nothing for a duplicate, and for a user who does not want it. */
export function add(transaction: Transaction, userId: number, row: NewNotification, usual: string) {
  transaction.changed(notificationsScope(userId));
  return transaction.first<Pick<NotificationRow, 'id' | 'date_mail'>>(ADD, [...parametersOf(row, usual), userId]);
}

const POSTPONE = statement('update notifications set date_mail = ? where id = ?');
export const postponeMail = (transaction: Transaction, id: number, dateMail: number) =>
  transaction.run(POSTPONE, [dateMail, id]);

const SAME = 'kind = ? and actor_id = ? and resource = ? and resource_id = ? and comment_id = ?';
const sameAs = (row: NewNotification) => [row.kind, row.actor_id, row.resource, row.resource_id, row.comment_id];
const REMOVE_SAME = statement(`delete from notifications where user_id = ? and ${SAME}`);
/** Removes the earlier notification before a repetition. */
export function removeSame(transaction: Transaction, userId: number, row: NewNotification) {
  transaction.changed(notificationsScope(userId));
  return transaction.run(REMOVE_SAME, [userId, ...sameAs(row)]);
}

const SOME_SUBSCRIBERS = statement(`select max(user_id) as last, count(*) as number from
  (select user_id from subscriptions where mod_id = ? and user_id > ? order by user_id limit ?) first`);
const REMOVE_FOR_SUBSCRIBERS = statement(`delete from notifications where ${SAME} and date_added < ?
  and user_id in (select s.user_id from subscriptions s where s.mod_id = ? and s.user_id > ? and s.user_id <= ?)`);
const ADD_FOR_SUBSCRIBERS = adding(
  'subscriptions s join users u on u.id = s.user_id',
  's.mod_id = ? and s.user_id > ? and s.user_id <= ?',
);
/** Adds one batch for subscribers of a mod, ordered by user id. Returns the last id, or 0 after the last batch. */
export async function addForSubscribers(
  transaction: Transaction,
  row: NewNotification,
  usual: string,
  { after, most }: { after: number; most: number },
): Promise<number> {
  const modId = row.resource_id;
  type Some = { last: number | null; number: number };
  const { last, number } = (await transaction.first<Some>(SOME_SUBSCRIBERS, [modId, after, most]))!;
  if (last === null) return 0;
  const some = [modId, after, last];
  await transaction.run(REMOVE_FOR_SUBSCRIBERS, [...sameAs(row), row.date_added, ...some]);
  await transaction.all(ADD_FOR_SUBSCRIBERS, [...parametersOf(row, usual), ...some]);
  transaction.changed(notificationsScope(after + 1, Number(last)));
  return Number(number) < most ? 0 : Number(last);
}

/** The notifications of a user, without those of deleted comments. */
const of = (query: Query, userId: number) =>
  query
    .selectFrom('notifications as n')
    .leftJoin('users as u', 'u.id', 'n.actor_id')
    .leftJoin('comments as c', 'c.id', 'n.comment_id')
    .where('n.user_id', '=', userId)
    .where((where) => where.or([where('n.comment_id', '=', 0), where('c.date_deleted', '=', 0)]));

const shown = (query: Query, userId: number) =>
  of(query, userId)
    .select(['n.id as notification_id', 'n.kind', 'n.resource', 'n.resource_id', 'n.game_id', 'n.comment_id'])
    .select(['n.date_added', 'n.is_read'])
    .select(USER);

/** A notification with the columns of its actor. */
export type StoredNotification = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function list(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(of(query, userId), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const notifications = await paged(narrowed(shown(query, userId), listing, request), listing, request).execute();
  return { notifications, total: Number(total) };
}

export const find = (query: Query, userId: number, id: number): Promise<StoredNotification | undefined> =>
  shown(query, userId).where('n.id', '=', id).executeTakeFirst();

const SET_READ = statement('update notifications set is_read = ? where id = ? and user_id = ?');
export function setRead(transaction: Transaction, userId: number, id: number, isRead: boolean) {
  transaction.changed(notificationsScope(userId));
  return transaction.run(SET_READ, [Number(isRead), id, userId]);
}

const READ_ALL = statement('update notifications set is_read = 1 where user_id = ? and is_read = 0');
export function readAll(transaction: Transaction, userId: number) {
  transaction.changed(notificationsScope(userId));
  return transaction.run(READ_ALL, [userId]);
}

const REMOVE = statement('delete from notifications where id = ? and user_id = ? returning id');
/** Returns whether it existed. */
export async function remove(transaction: Transaction, userId: number, id: number): Promise<boolean> {
  transaction.changed(notificationsScope(userId));
  return (await transaction.first(REMOVE, [id, userId])) !== undefined;
}

const REMOVE_ALL = statement('delete from notifications where user_id = ?');
export function removeAll(transaction: Transaction, userId: number) {
  transaction.changed(notificationsScope(userId));
  return transaction.run(REMOVE_ALL, [userId]);
}

const NEWEST = statement('select id from notifications where user_id = ? order by id desc limit ?');
/** The ids of the newest notifications, the newest first. */
export const newestIds = async (reader: Reader, userId: number, most: number): Promise<number[]> =>
  (await reader.all<{ id: number }>(NEWEST, [userId, most])).map(({ id }) => id);

export const findAll = (query: Query, userId: number, ids: readonly number[]): Promise<StoredNotification[]> =>
  shown(query, userId).where('n.id', 'in', ids).orderBy('n.id').execute();

export type UnreadRow = Pick<NotificationRow, 'id' | 'resource' | 'resource_id' | 'comment_id'>;
const UNREAD = statement(`select n.id, n.resource, n.resource_id, n.comment_id
  from notifications n left join comments c on c.id = n.comment_id
  where n.user_id = ? and n.is_read = 0 and (n.comment_id = 0 or c.date_deleted = 0) order by n.id desc limit ?`);
/** The newest first. */
export const unread = (reader: Reader, userId: number, most: number) => reader.all<UnreadRow>(UNREAD, [userId, most]);

const MODES_OF = statement('select kind, mode from notification_modes where user_id = ?');
export const modesOf = (reader: Pick<Database, 'all'>, userId: number) =>
  reader.all<{ kind: string; mode: string }>(MODES_OF, [userId]);

const SET_MODE = statement(`insert into notification_modes (user_id, kind, mode) values (?, ?, ?)
  on conflict (user_id, kind) do update set mode = excluded.mode`);
export const setMode = (transaction: Transaction, userId: number, kind: string, mode: string) =>
  transaction.run(SET_MODE, [userId, kind, mode]);

const AWAITING = statement(`select distinct user_id from notifications
  where date_mail > 0 and date_mail <= ? and user_id > ? order by user_id limit ?`);
/** Users with notifications due for mailing, ordered by id. */
export const awaitingMail = async (reader: Reader, now: number, after: number, most: number): Promise<number[]> =>
  (await reader.all<{ user_id: number }>(AWAITING, [now, after, most])).map(({ user_id }) => user_id);

const LETTERS_SINCE = statement(
  'select count(*) as number from notification_letters where user_id = ? and date_added > ?',
);
export const lettersSince = async (reader: Reader, userId: number, since: number): Promise<number> =>
  Number((await reader.first<{ number: number }>(LETTERS_SINCE, [userId, since]))!.number);

const IS_DUE = 'user_id = ? and date_mail > 0 and date_mail <= ?';
const ANY_DUE = statement(`select id from notifications where ${IS_DUE} limit 1`);
export const isAnyDue = async (reader: Reader, userId: number, now: number): Promise<boolean> =>
  (await reader.first(ANY_DUE, [userId, now])) !== undefined;

const UNTIL_DIGEST = statement(`update notifications set date_mail =
  (select ${nextDigest('cast(? as bigint)')} from users u where u.id = notifications.user_id) where ${IS_DUE}`);
/** Moves what is due to the next daily mail. */
export const postponeToDigest = (transaction: Transaction, userId: number, now: number) =>
  transaction.run(UNTIL_DIGEST, [now, userId, now]);

const ADD_LETTER = statement(
  'insert into notification_letters (user_id, date_added, date_sent) values (?, ?, 0) returning *',
);
const PUT_INTO_LETTER = statement(`update notifications set letter_id = ?, date_mail = 0 where ${IS_DUE}`);
/** Adds a letter with all notifications due for a user. */
export async function addLetter(transaction: Transaction, userId: number, now: number): Promise<LetterRow> {
  const letter = (await transaction.first<LetterRow>(ADD_LETTER, [userId, now]))!;
  await transaction.run(PUT_INTO_LETTER, [letter.id, userId, now]);
  return letter;
}

const UNSENT = statement('select * from notification_letters where user_id = ? and date_sent = 0 order by id');
export const unsentLetters = (reader: Reader, userId: number) => reader.all<LetterRow>(UNSENT, [userId]);

const SET_SENT = statement('update notification_letters set date_sent = ? where id = ?');
export const setSent = (transaction: Transaction, id: number, now: number) => transaction.run(SET_SENT, [now, id]);

export interface Addressee {
  readonly email: string;
  readonly language: string;
}
const ADDRESSEE = statement(
  'select email, language from users where id = ? and status = 1 and email is not null and date_closed is null',
);
/** Undefined for banned, deleted and closed accounts. */
export const addressee = (reader: Reader, userId: number) => reader.first<Addressee>(ADDRESSEE, [userId]);

export interface LineRow {
  readonly kind: string;
  readonly resource: string;
  /** The actor, where there is one. */
  readonly username: string | null;
  readonly user_name_id: string | null;
  /** The subject, where it has a name. */
  readonly name: string | null;
  readonly name_id: string | null;
  readonly game_name_id: string | null;
}
const LINES = statement(`select n.kind, n.resource, a.username, a.name_id as user_name_id,
    coalesce(m.name, g.name, c.name, ga.name) as name, coalesce(m.name_id, g.name_id, c.name_id, ga.name_id) as name_id,
    og.name_id as game_name_id
  from notifications n
  left join users a on a.id = n.actor_id
  left join comments co on co.id = n.comment_id
  left join mods m on n.resource = 'mods' and m.id = n.resource_id
  left join guides g on n.resource = 'guides' and g.id = n.resource_id
  left join collections c on n.resource = 'collections' and c.id = n.resource_id
  left join games ga on n.resource = 'games' and ga.id = n.resource_id
  left join games og on og.id = n.game_id
  where n.letter_id = ? and n.letter_id > 0 and n.is_read = 0 and (n.actor_id = 0 or a.status not in (3, 4))
    and (n.comment_id = 0 or co.date_deleted = 0)
    and not exists (select 1 from blocks b where b.user_id = n.user_id and b.blocked_id = n.actor_id)
    and not exists (select 1 from mutes mu where mu.user_id = n.user_id and mu.muted_id = n.actor_id)
  order by n.id`);
/** The lines of a letter, without those read, deleted or by users muted since. */
export const linesOf = (reader: Reader, letterId: number) => reader.all<LineRow>(LINES, [letterId]);

const REMOVE_OLD = statement(`delete from notifications where id in
  (select id from notifications where date_added < ? limit ?) returning id`);
/** Returns the number of removed rows. */
export const removeSomeBefore = async (transaction: Transaction, second: number, most: number): Promise<number> =>
  (await transaction.all(REMOVE_OLD, [second, most])).length;

const REMOVE_LETTERS = statement(`delete from notification_letters where id in
  (select id from notification_letters where date_added < ? limit ?) returning id`);
export const removeSomeLettersBefore = async (transaction: Transaction, second: number, most: number) =>
  (await transaction.all(REMOVE_LETTERS, [second, most])).length;
