import { type Insertable, type Selectable, sql } from 'kysely';
import { type Database, insertRow, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { takeAdvisoryLock as turnOf, withUpdateLock } from '../../platform/database/locks.ts';
import { isNotMutedBy } from '../../platform/database/muted.ts';
import { USER } from '../../platform/database/people.ts';
import type { CommentsTable, CommentVotesTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type CommentRow = Selectable<CommentsTable>;

/** The content of a comment. */
export interface Subject {
  readonly resource: string;
  readonly id: number;
}

const COMMENT_COLUMNS = [
  'resource',
  'resource_id',
  'game_id',
  'submitted_by',
  'date_added',
  'reply_id',
  'karma',
  'options',
  'thread_position',
  'markup',
] as const;

/** Neither the comment nor a parent of it is withheld. */
const SHOWN = `c.withheld = 0 and not exists (select 1 from comments a where a.withheld > 0
  and a.resource = c.resource and a.resource_id = c.resource_id and c.thread_order like a.thread_order || '.%')`;
const isShown = sql<boolean>`${sql.raw(SHOWN)}`;

const of = (query: Query, { resource, id }: Subject) =>
  query
    .selectFrom('comments as c')
    .innerJoin('users as u', 'u.id', 'c.submitted_by')
    .where('c.resource', '=', resource)
    .where('c.resource_id', '=', id)
    .where('c.date_deleted', '=', 0)
    .where(isShown);

const shown = (query: Query, subject: Subject) =>
  of(query, subject)
    .select('c.id as comment_id')
    .select(COMMENT_COLUMNS.map((name) => `c.${name}` as const))
    .select(USER);

/** A comment with its author’s columns, which have their own names. */
export type StoredComment = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

/** Excludes comments of users whom the reader has muted. */
export async function list(
  query: Query,
  subject: Subject,
  muterId: number | undefined,
  listing: Listing,
  request: ListRequest,
) {
  const isHeard = muterId === undefined ? sql<boolean>`1 = 1` : isNotMutedBy(muterId, 'c.submitted_by');
  const { total } = await narrowed(of(query, subject).where(isHeard), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const wanted = narrowed(shown(query, subject).where(isHeard), listing, request);
  const comments = await paged(wanted, listing, request).execute();
  return { comments, total: Number(total) };
}

const FIND =
  statement(`select c.id as comment_id, ${COMMENT_COLUMNS.map((name) => `c.${name}`).join(', ')}, ${USER.join(', ')}
  from comments c join users u on u.id = c.submitted_by
  where c.id = ? and c.resource = ? and c.resource_id = ? and c.date_deleted = 0 and ${SHOWN}`);
export const find = (reader: Reader, { resource, id }: Subject, commentId: number) =>
  reader.first<StoredComment>(FIND, [commentId, resource, id]);

const FOR_CHANGE = withUpdateLock(
  statement('select * from comments where id = ? and resource = ? and resource_id = ?'),
);
/** Includes deleted comments. On PostgreSQL this locks the comment. */
export const rowForChange = (transaction: Transaction, { resource, id }: Subject, commentId: number) =>
  transaction.first<CommentRow>(FOR_CHANGE, [commentId, resource, id]);

const ABOVE = statement('select * from comments where id = ?');
export const byId = (reader: Reader, id: number) => reader.first<CommentRow>(ABOVE, [id]);

/** Serialises a user’s concurrent comments, so that each is counted. SQLite has one writer. */
export const takeTurn = (transaction: Transaction, userId: number) => turnOf(transaction, `comments/${userId}`);

export interface Recent extends Subject {
  readonly content: string;
  readonly date_added: number;
}

const RECENT = statement(`select resource, resource_id as id, content, date_added from comments
  where submitted_by = ? and date_added > ? order by date_added desc limit ?`);
/** The user’s comments since then, newest first. Deleted ones have no text. */
export const recentOf = (transaction: Transaction, userId: number, since: number, most: number) =>
  transaction.all<Recent>(RECENT, [userId, since, most]);

const LAST = statement(`select thread_order from comments where resource = ? and resource_id = ? and reply_id = ?
  order by thread_order desc limit 1`);
/** The position of the newest reply to a comment, or with 0 of the newest top-level comment. Includes deleted ones. */
export async function lastPosition(reader: Reader, { resource, id }: Subject, replyId: number): Promise<number> {
  const row = await reader.first<{ thread_order: string }>(LAST, [resource, id, replyId]);
  return Number(row?.thread_order.split('.').at(-1) ?? 0);
}

export const add = (transaction: Transaction, row: Insertable<CommentsTable>) =>
  insertRow(transaction, 'comments', row);

const SET_CONTENT = statement('update comments set content = ?, markup = ?, markup_folded = ? where id = ?');
export const setContent = (
  transaction: Transaction,
  id: number,
  { content, markup, markup_folded }: Pick<CommentRow, 'content' | 'markup' | 'markup_folded'>,
) => transaction.run(SET_CONTENT, [content, markup, markup_folded, id]);

const SET_OPTIONS = statement('update comments set options = ? where id = ?');
export const setOptions = (transaction: Transaction, id: number, options: number) =>
  transaction.run(SET_OPTIONS, [options, id]);

const SET_WITHHELD = statement('update comments set withheld = ? where id = ?');
export const setWithheld = (transaction: Transaction, id: number, withheld: number) =>
  transaction.run(SET_WITHHELD, [withheld, id]);

const COUNT_SHOWN = statement(`select count(*) as shown from comments c where c.resource = ? and c.resource_id = ?
  and c.date_deleted = 0 and (c.id = ? or c.thread_order like ?) and ${SHOWN}`);
/** The number of visible comments among a comment and its replies. */
export const countShown = async (
  transaction: Transaction,
  { resource, resource_id, id, thread_order }: CommentRow,
): Promise<number> =>
  Number(
    (await transaction.first<{ shown: number }>(COUNT_SHOWN, [resource, resource_id, id, `${thread_order}.%`]))!.shown,
  );

const DELETE =
  statement(`update comments set date_deleted = ?, deleted_by = ?, content = '', markup = '', markup_folded = ''
  where resource = ? and resource_id = ? and date_deleted = 0 and (id = ? or thread_position like ?) returning id`);

/** Removes the comment with its replies. */
export async function remove(
  transaction: Transaction,
  comment: CommentRow,
  { userId, now }: { userId: number; now: number },
): Promise<void> {
  const below = `${comment.thread_position}.%`;
  const gone = await transaction.all<{ id: number }>(DELETE, [
    now,
    userId,
    comment.resource,
    comment.resource_id,
    comment.id,
    below,
  ]);
  await forget(
    transaction.query,
    gone.map(({ id }) => id),
  );
}

async function forget(query: Query, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await query.deleteFrom('comment_mentions').where('comment_id', 'in', ids).execute();
  await query.deleteFrom('comment_votes').where('comment_id', 'in', ids).execute();
}

const SOME = statement(`delete from comments where id in
  (select id from comments where resource = ? and resource_id = ? limit ?) returning id`);
/** Removes one batch of comments of deleted content. Returns their number. */
export async function removeSome(transaction: Transaction, { resource, id }: Subject, most: number): Promise<number> {
  const gone = await transaction.all<{ id: number }>(SOME, [resource, id, most]);
  await forget(
    transaction.query,
    gone.map((row) => row.id),
  );
  return gone.length;
}

const VOTE = statement('select karma from comment_votes where comment_id = ? and user_id = ?');
export async function voteOf(reader: Reader, commentId: number, userId: number): Promise<number> {
  return (await reader.first<{ karma: number }>(VOTE, [commentId, userId]))?.karma ?? 0;
}

const PUT_VOTE = statement(`insert into comment_votes (comment_id, user_id, karma) values (?, ?, ?)
  on conflict (comment_id, user_id) do update set karma = excluded.karma`);
const ADD_KARMA = statement('update comments set karma = karma + ? where id = ?');
/** The caller has locked the comment, so that its karma stays the sum of its votes. */
export async function putVote(
  transaction: Transaction,
  commentId: number,
  userId: number,
  { karma, before }: { karma: number; before: number },
): Promise<void> {
  await transaction.run(PUT_VOTE, [commentId, userId, karma]);
  await transaction.run(ADD_KARMA, [karma - before, commentId]);
}

const REMOVE_MENTIONS = statement('delete from comment_mentions where comment_id = ?');
export const removeMentions = (transaction: Transaction, commentId: number) =>
  transaction.run(REMOVE_MENTIONS, [commentId]);

/** Adds those of the named users that exist and have not blocked the author. */
export async function addMentions(query: Query, commentId: number, nameIds: readonly string[], authorId: number) {
  if (nameIds.length === 0) return;
  const people = await query
    .selectFrom('users')
    .select('id')
    .where('name_id', 'in', nameIds)
    .where('status', '=', 1)
    .where('id', '<>', authorId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('blocks')
            .select('blocks.user_id')
            .whereRef('blocks.user_id', '=', 'users.id')
            .where('blocks.blocked_id', '=', authorId),
        ),
      ),
    )
    .execute();
  if (people.length > 0)
    await query
      .insertInto('comment_mentions')
      .values(people.map(({ id }) => ({ comment_id: commentId, user_id: id })))
      .execute();
}

const MENTIONED = statement('select user_id from comment_mentions where comment_id = ? order by user_id');
export async function mentioned(reader: Pick<Database, 'all'>, commentId: number): Promise<number[]> {
  return (await reader.all<{ user_id: number }>(MENTIONED, [commentId])).map(({ user_id }) => user_id);
}

const MOD_OPTIONS = statement('select community_options from mods where id = ?');
export async function optionsOfMod(reader: Reader, modId: number): Promise<number> {
  return (await reader.first<{ community_options: number }>(MOD_OPTIONS, [modId]))?.community_options ?? 0;
}

export type VoteRow = Selectable<CommentVotesTable>;

const HOLD_COMMENT = withUpdateLock(ABOVE);
export const lockComment = (transaction: Transaction, id: number) => transaction.first<CommentRow>(HOLD_COMMENT, [id]);

const VOTES_OF = statement('select * from comment_votes where user_id = ? order by comment_id limit ?');
export const votesOf = (transaction: Transaction, userId: number, most: number) =>
  transaction.all<VoteRow>(VOTES_OF, [userId, most]);

const VOTES_BETWEEN = statement(`select v.* from comment_votes v join comments c on c.id = v.comment_id
  where v.user_id in (?, ?) and c.submitted_by in (?, ?) order by v.comment_id, v.user_id limit ?`);
/** Votes of either user on the other’s comments, or their own. */
export const votesBetween = (transaction: Transaction, one: number, other: number, most: number) =>
  transaction.all<VoteRow>(VOTES_BETWEEN, [one, other, one, other, most]);

const REMOVE_VOTE = statement('delete from comment_votes where comment_id = ? and user_id = ? returning karma');
/** The caller has locked the comment, so that its karma stays the sum of its votes. */
export async function removeVote(transaction: Transaction, commentId: number, userId: number): Promise<void> {
  const gone = await transaction.first<{ karma: number }>(REMOVE_VOTE, [commentId, userId]);
  if (gone) await transaction.run(ADD_KARMA, [-gone.karma, commentId]);
}

const MOVE_VOTE = statement('update comment_votes set user_id = ? where comment_id = ? and user_id = ?');
export const moveVote = (transaction: Transaction, { comment_id, user_id }: VoteRow, to: number) =>
  transaction.run(MOVE_VOTE, [to, comment_id, user_id]);
