import { type Insertable, type Selectable, sql } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { takeAdvisoryLock as turnOf, withUpdateLock } from '../../platform/database/locks.ts';
import { USER } from '../../platform/database/people.ts';
import type { MessageMembersTable, MessagesTable, MessageThreadsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type ThreadRow = Selectable<MessageThreadsTable>;
export type MemberRow = Selectable<MessageMembersTable>;

export const INVITED = 0;
export const IN_THREAD = 1;
export const GONE = 2;

/** Serialises a user’s concurrent messages, so that each is counted. SQLite has one writer. */
export const takeTurn = (transaction: Transaction, userId: number) => turnOf(transaction, `messages/${userId}`);

const THREAD = statement('select * from message_threads where id = ?');
export const thread = (reader: Reader, id: number) => reader.first<ThreadRow>(THREAD, [id]);

const HOLD = withUpdateLock(THREAD);
/** On PostgreSQL this locks the thread, with its messages and members. */
export const lockThread = (transaction: Transaction, id: number) => transaction.first<ThreadRow>(HOLD, [id]);

const MEMBER = statement('select * from message_members where thread_id = ? and user_id = ?');
export const member = (reader: Reader, threadId: number, userId: number) =>
  reader.first<MemberRow>(MEMBER, [threadId, userId]);

export const addThread = (query: Query, row: Insertable<MessageThreadsTable>) =>
  query.insertInto('message_threads').values(row).returningAll().executeTakeFirstOrThrow();

export const addMember = (query: Query, row: Insertable<MessageMembersTable>) =>
  query.insertInto('message_members').values(row).execute();

const ADD_UNREAD = statement(`update message_members set unread = unread + 1
  where thread_id = ? and user_id <> ? and status = ${IN_THREAD}
  and not exists (select 1 from blocks b where b.user_id = message_members.user_id and b.blocked_id = ?)`);
const TOUCH = statement('update message_threads set date_updated = ? where id = ?');
const READ_OWN = statement(
  'update message_members set last_read_id = ?, unread = 0 where thread_id = ? and user_id = ?',
);

/** Marks the thread as read for the author, and increments the unread counter of every other recipient. */
export async function addMessage(transaction: Transaction, row: Insertable<MessagesTable>): Promise<number> {
  const { id } = await transaction.query.insertInto('messages').values(row).returning('id').executeTakeFirstOrThrow();
  await transaction.run(ADD_UNREAD, [row.thread_id, row.user_id, row.user_id]);
  await transaction.run(READ_OWN, [id, row.thread_id, row.user_id]);
  await transaction.run(TOUCH, [row.date_added, row.thread_id]);
  return id;
}

const MARK_READ = statement(`update message_members set unread = 0,
  last_read_id = coalesce((select max(id) from messages where messages.thread_id = message_members.thread_id), 0)
  where thread_id = ? and user_id = ?`);
export const markRead = (transaction: Transaction, threadId: number, userId: number) =>
  transaction.run(MARK_READ, [threadId, userId]);

const SET_STATUS = statement('update message_members set status = ?, unread = 0 where thread_id = ? and user_id = ?');
export const setStatus = (transaction: Transaction, threadId: number, userId: number, status: number) =>
  transaction.run(SET_STATUS, [status, threadId, userId]);

/** Removes the thread with its messages. */
export async function removeThread(query: Query, id: number): Promise<void> {
  await query.deleteFrom('messages').where('thread_id', '=', id).execute();
  await query.deleteFrom('message_members').where('thread_id', '=', id).execute();
  await query.deleteFrom('message_threads').where('id', '=', id).execute();
}

const DELETE = statement(`update messages set date_deleted = ?, content = '', markup = ''
  where id = ? and thread_id = ? and user_id = ? and date_deleted = 0 returning id`);
const LESS_UNREAD = statement(`update message_members set unread = unread - 1
  where thread_id = ? and user_id <> ? and status = ${IN_THREAD} and last_read_id < ? and unread > 0`);

/** Returns false if the author has no such message. Decrements the unread counter of members who have not read it. */
export async function deleteMessage(
  transaction: Transaction,
  { id, threadId, userId, now }: { id: number; threadId: number; userId: number; now: number },
): Promise<boolean> {
  const gone = await transaction.first(DELETE, [now, id, threadId, userId]);
  if (!gone) return false;
  await transaction.run(LESS_UNREAD, [threadId, userId, id]);
  return true;
}

const count = async (reader: Reader, read: Statement, values: readonly number[]): Promise<number> =>
  Number((await reader.first<{ total: number }>(read, values))!.total);

const WRITTEN = statement('select count(*) as total from messages where user_id = ? and first = ? and date_added > ?');
/** The number of replies, or of new threads, of a user since then. */
export const writtenSince = (reader: Reader, userId: number, what: { first: boolean; since: number }) =>
  count(reader, WRITTEN, [userId, Number(what.first), what.since]);

const INVITES_SINCE = statement(
  'select count(*) as total from message_members where invited_by = ? and date_added > ?',
);
export const invitesSince = (reader: Reader, userId: number, since: number) =>
  count(reader, INVITES_SINCE, [userId, since]);

const OPEN_INVITES = statement(
  `select count(*) as total from message_members where invited_by = ? and status = ${INVITED}`,
);
export const openInvitesBy = (reader: Reader, userId: number) => count(reader, OPEN_INVITES, [userId]);

const PEOPLE = statement(`select count(*) as total from message_members where thread_id = ? and status <> ${GONE}`);
/** Members and invited users. */
export const peopleIn = (reader: Reader, threadId: number) => count(reader, PEOPLE, [threadId]);

const OTHERS = statement(
  `select user_id from message_members where thread_id = ? and user_id <> ? and status = ${IN_THREAD} order by user_id`,
);
export async function othersIn(reader: Pick<Database, 'all'>, threadId: number, userId: number): Promise<number[]> {
  return (await reader.all<{ user_id: number }>(OTHERS, [threadId, userId])).map((row) => row.user_id);
}

const RECENT = statement(`select thread_id, content from messages
  where user_id = ? and date_added > ? and date_deleted = 0 order by date_added desc limit ?`);
export const recentOf = (transaction: Transaction, userId: number, since: number, most: number) =>
  transaction.all<{ thread_id: number; content: string }>(RECENT, [userId, since, most]);

const ACCEPT_FROM = statement('select accept_from from message_settings where user_id = ?');
export async function acceptFrom(reader: Reader, userId: number): Promise<number> {
  return (await reader.first<{ accept_from: number }>(ACCEPT_FROM, [userId]))?.accept_from ?? 0;
}

const PUT_ACCEPT = statement(`insert into message_settings (user_id, accept_from) values (?, ?)
  on conflict (user_id) do update set accept_from = excluded.accept_from`);
export const putAcceptFrom = (transaction: Transaction, userId: number, from: number) =>
  transaction.run(PUT_ACCEPT, [userId, from]);

const FOLLOWS = statement('select user_id from follows where user_id = ? and followed_id = ?');
export const follows = async (reader: Reader, userId: number, followedId: number): Promise<boolean> =>
  (await reader.first(FOLLOWS, [userId, followedId])) !== undefined;

const threadsOf = (query: Query, userId: number, status: number) =>
  query
    .selectFrom('message_threads as t')
    .innerJoin('message_members as m', 'm.thread_id', 't.id')
    .where('m.user_id', '=', userId)
    .where('m.status', '=', status);

export type ThreadOfMember = ThreadRow & Pick<MemberRow, 'unread' | 'invited_by'> & { readonly members: MemberUser[] };
type MemberUser = Awaited<ReturnType<typeof membersOf>>[number];

export async function listThreads(
  query: Query,
  { userId, status }: { userId: number; status: number },
  listing: Listing,
  request: ListRequest,
): Promise<{ threads: ThreadOfMember[]; total: number }> {
  const wanted = () => narrowed(threadsOf(query, userId, status), listing, request);
  const { total } = await wanted().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await paged(wanted().selectAll('t').select(['m.unread', 'm.invited_by']), listing, request).execute();
  return { threads: await withMembers(query, rows), total: Number(total) };
}

export async function threadOf(query: Query, userId: number, status: number, id: number): Promise<ThreadOfMember> {
  const row = await threadsOf(query, userId, status)
    .selectAll('t')
    .select(['m.unread', 'm.invited_by'])
    .where('t.id', '=', id)
    .executeTakeFirstOrThrow();
  return (await withMembers(query, [row]))[0]!;
}

async function withMembers(query: Query, rows: readonly Omit<ThreadOfMember, 'members'>[]): Promise<ThreadOfMember[]> {
  const ids = rows.map(({ id }) => id);
  const members = ids.length === 0 ? [] : await membersOf(query, ids);
  return rows.map((row) => ({ ...row, members: members.filter(({ thread_id }) => thread_id === row.id) }));
}

const membersOf = (query: Query, threadIds: readonly number[]) =>
  query
    .selectFrom('message_members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['m.thread_id', 'm.status'])
    .select(USER)
    .where('m.thread_id', 'in', threadIds)
    .where('m.status', '<>', GONE)
    .orderBy('m.date_added')
    .orderBy('m.user_id')
    .execute();

/** Messages as the reader sees them: without those of users whom they have blocked. */
const messagesFor = (query: Query, threadId: number, readerId: number) =>
  query
    .selectFrom('messages as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .where('m.thread_id', '=', threadId)
    .where('m.date_deleted', '=', 0)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('blocks as b')
            .select('b.user_id')
            .where('b.user_id', '=', readerId)
            .whereRef('b.blocked_id', '=', 'm.user_id'),
        ),
      ),
    );

const shown = (query: Query, threadId: number, readerId: number) =>
  messagesFor(query, threadId, readerId)
    .select(['m.id as message_id', 'm.thread_id', 'm.date_added', 'm.markup'])
    .select(USER);

/** A message with its author’s columns, which have their own names. */
export type StoredMessage = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function listMessages(
  query: Query,
  { threadId, readerId }: { threadId: number; readerId: number },
  listing: Listing,
  request: ListRequest,
) {
  const { total } = await narrowed(messagesFor(query, threadId, readerId), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const messages = await paged(
    narrowed(shown(query, threadId, readerId), listing, request),
    listing,
    request,
  ).execute();
  return { messages, total: Number(total) };
}

export const messageIn = (query: Query, threadId: number, readerId: number, id: number) =>
  shown(query, threadId, readerId).where('m.id', '=', id).executeTakeFirstOrThrow();

const UNREAD = statement(`select
  coalesce(sum(case when status = ${IN_THREAD} then unread else 0 end), 0) as messages,
  coalesce(sum(case when status = ${IN_THREAD} and unread > 0 then 1 else 0 end), 0) as threads,
  coalesce(sum(case when status = ${INVITED} then 1 else 0 end), 0) as invites
  from message_members where user_id = ? and status <> ${GONE}`);
export async function unreadOf(reader: Reader, userId: number) {
  const row = (await reader.first<{ messages: number; threads: number; invites: number }>(UNREAD, [userId]))!;
  return { messages: Number(row.messages), threads: Number(row.threads), invites: Number(row.invites) };
}

const THREADS_WITH = statement(`select thread_id from message_members where user_id = ?
  union select thread_id from messages where user_id = ? order by thread_id limit ?`);
/** Threads in which the user is or was a member, or has written. */
export async function threadsWith(transaction: Transaction, userId: number, most: number): Promise<number[]> {
  const rows = await transaction.all<{ thread_id: number }>(THREADS_WITH, [userId, userId, most]);
  return rows.map(({ thread_id }) => thread_id);
}

/** Messages after the last read one, except the reader’s own and those of users whom they have blocked. */
const COUNT_UNREAD = `(select count(*) from messages m where m.thread_id = message_members.thread_id
  and m.id > message_members.last_read_id and m.date_deleted = 0 and m.user_id <> message_members.user_id
  and not exists (select 1 from blocks b where b.user_id = message_members.user_id and b.blocked_id = m.user_id))`;

const ERASE_MESSAGES = statement('delete from messages where thread_id = ? and user_id = ?');
const ERASE_MEMBER = statement('delete from message_members where thread_id = ? and user_id = ?');
const RECOUNT_ALL = statement(`update message_members set unread = ${COUNT_UNREAD}
  where thread_id = ? and status = ${IN_THREAD}`);
/** Removes a member with their messages, and updates the others’ unread counters. */
export async function eraseMember(transaction: Transaction, threadId: number, userId: number): Promise<void> {
  await transaction.run(ERASE_MESSAGES, [threadId, userId]);
  await transaction.run(ERASE_MEMBER, [threadId, userId]);
  await transaction.run(RECOUNT_ALL, [threadId]);
}

const MOVE_MESSAGES = statement('update messages set user_id = ? where thread_id = ? and user_id = ?');
const MOVE_MEMBER = statement('update message_members set user_id = ? where thread_id = ? and user_id = ?');
const JOIN_MEMBERS = statement(
  'update message_members set status = ?, last_read_id = ? where thread_id = ? and user_id = ?',
);
const RECOUNT = statement(`update message_members set unread = ${COUNT_UNREAD}
  where thread_id = ? and user_id = ? and status = ${IN_THREAD}`);
/** Ordered from the closest membership. */
const NEAREST = [IN_THREAD, INVITED, GONE];

export async function moveMember(transaction: Transaction, threadId: number, from: number, to: number): Promise<void> {
  const [theirs, own] = [await member(transaction, threadId, from), await member(transaction, threadId, to)];
  await transaction.run(MOVE_MESSAGES, [to, threadId, from]);
  if (theirs && own) {
    const status = NEAREST.find((each) => each === theirs.status || each === own.status)!;
    await transaction.run(ERASE_MEMBER, [threadId, from]);
    await transaction.run(JOIN_MEMBERS, [status, Math.max(theirs.last_read_id, own.last_read_id), threadId, to]);
  } else if (theirs) await transaction.run(MOVE_MEMBER, [to, threadId, from]);
  await transaction.run(RECOUNT, [threadId, to]);
}
