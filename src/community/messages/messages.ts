import { requireNotBlocked } from '../../people/blocks/blocks.ts';
import { notify } from '../../people/notifications/notifications.ts';
import { requireUserIn, USER_ACTIVE } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { plainText, sanitised } from '../../platform/text/markup.ts';
import { requireFewReplies, requireFewThreads, requireMayInviteMore, requireNoSpam } from './limits.ts';
import * as store from './store.ts';

export { PEOPLE_MAX } from './limits.ts';
export type { StoredMessage, ThreadOfMember } from './store.ts';
export { INVITED } from './store.ts';

/** From whom a user accepts new threads and invitations. */
export const ACCEPT_FROM = { everyone: 0, followed: 1, nobody: 2 } as const;
export type AcceptFrom = keyof typeof ACCEPT_FROM;

const NEWEST_FIRST = { sql: 't.date_updated', descending: true };

export const threadListing: Listing = {
  from: 't',
  columns: {
    id: { kind: 'integer' },
    started_by: { kind: 'integer' },
    date_added: { kind: 'integer' },
    date_updated: { kind: 'integer' },
    unread: { kind: 'integer', sql: 'm.unread' },
  },
  sorts: { id: 't.id', date_added: 't.date_added', date_updated: 't.date_updated' },
};

export const messageListing: Listing = {
  from: 'm',
  columns: { id: { kind: 'integer' }, user_id: { kind: 'integer' }, date_added: { kind: 'integer' } },
  sorts: { id: 'm.id', date_added: 'm.date_added' },
};

const listOf =
  (status: number) =>
  (app: App, { userId }: UserCaller, request: ListRequest) =>
    store.listThreads(app.db.query, { userId, status }, threadListing, {
      ...request,
      sort: request.sort ?? NEWEST_FIRST,
    });

export const threadsOf = listOf(store.IN_THREAD);
export const invitesOf = listOf(store.INVITED);

export const unreadOf = (app: App, { userId }: UserCaller) => store.unreadOf(app.db, userId);

type Reader = Pick<Database, 'first'>;

function requireThere(thread: store.ThreadRow | undefined): store.ThreadRow {
  if (!thread) throw new ApiError('USER_PM_THREAD_DOESNT_EXIST');
  return thread;
}

async function requireIn(reader: Reader, threadId: number, userId: number, ...statuses: number[]) {
  const member = await store.member(reader, threadId, userId);
  if (!member || !statuses.includes(member.status)) throw new ApiError('USER_PM_NOT_IN_THREAD');
  return member;
}

export async function showThread(app: App, { userId }: UserCaller, id: number): Promise<store.ThreadOfMember> {
  requireThere(await store.thread(app.db, id));
  await requireIn(app.db, id, userId, store.IN_THREAD);
  return store.threadOf(app.db.query, userId, store.IN_THREAD, id);
}

/** By default newest first. */
export async function listMessages(app: App, { userId }: UserCaller, threadId: number, request: ListRequest) {
  requireThere(await store.thread(app.db, threadId));
  await requireIn(app.db, threadId, userId, store.IN_THREAD);
  const sort = request.sort ?? { sql: 'm.id', descending: true };
  return store.listMessages(app.db.query, { threadId, readerId: userId }, messageListing, { ...request, sort });
}

export interface NewThread {
  readonly subject: string;
  readonly content: string;
  readonly userIds: readonly number[];
}

/** The recipients are members at once; the first message serves as their invitation. */
export async function startThread(app: App, caller: UserCaller, thread: NewThread): Promise<store.ThreadOfMember> {
  const { userId } = caller;
  const people = [...new Set(thread.userIds)].toSorted((one, other) => one - other);
  return app.db.write(async (transaction) => {
    await store.takeTurn(transaction, userId);
    const text = textOf(thread.content);
    for (const id of people) await requireReachable(transaction, caller, id);
    if (!caller.admin) {
      await requireFewThreads(app, transaction, userId);
      await requireNoSpam(app, transaction, { userId, content: thread.content, threadId: 0 });
    }
    const now = app.clock.now();
    const dates = { date_added: now, date_updated: now };
    const { id } = await store.addThread(transaction.query, { subject: thread.subject, started_by: userId, ...dates });
    transaction.made?.(id);
    const member = { thread_id: id, status: store.IN_THREAD, invited_by: 0, date_added: now, unread: 0 };
    for (const user_id of [userId, ...people])
      await store.addMember(transaction.query, { ...member, user_id, last_read_id: 0 });
    await store.addMessage(transaction, { ...messageOf(app, id, userId, text), first: 1 });
    const about = { actorId: userId, resource: 'threads', resourceId: id } as const;
    for (const each of people) await notify(app, transaction, { userId: each, kind: 'message', ...about });
    return store.threadOf(transaction.query, userId, store.IN_THREAD, id);
  });
}

/**
 * The recipient must exist, must not be the caller, must accept their messages, and neither may have blocked the other.
 */
async function requireReachable(transaction: Transaction, caller: UserCaller, userId: number): Promise<void> {
  if (userId === caller.userId)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'user_id', rule: 'someone_else' }] });
  const person = await requireUserIn(transaction, userId);
  await requireNotBlocked(transaction, caller.userId, userId);
  if (person.status !== USER_ACTIVE || !(await accepts(transaction, userId, caller)))
    throw new ApiError('USER_INVITE_NOT_AUTHORISED');
}

/** Site administrators reach everyone. */
async function accepts(reader: Reader, userId: number, { userId: fromId, admin }: UserCaller): Promise<boolean> {
  const from = admin ? ACCEPT_FROM.everyone : await store.acceptFrom(reader, userId);
  return from === ACCEPT_FROM.everyone || (from === ACCEPT_FROM.followed && store.follows(reader, userId, fromId));
}

/** The text as written and as shown. A text that shows nothing is refused. */
function textOf(content: string) {
  const markup = sanitised(content);
  if (plainText(markup) === '' && !markup.includes('<img '))
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'content', rule: 'required' }] });
  return { content, markup };
}

const messageOf = (app: App, threadId: number, userId: number, text: ReturnType<typeof textOf>) => ({
  ...text,
  thread_id: threadId,
  user_id: userId,
  date_added: app.clock.now(),
  date_deleted: 0,
});

export async function reply(
  app: App,
  caller: UserCaller,
  threadId: number,
  content: string,
): Promise<store.StoredMessage> {
  const { userId } = caller;
  return app.db.write(async (transaction) => {
    await store.takeTurn(transaction, userId);
    requireThere(await store.lockThread(transaction, threadId));
    await requireIn(transaction, threadId, userId, store.IN_THREAD);
    const text = textOf(content);
    const others = await store.othersIn(transaction, threadId, userId);
    // In a group a message is only hidden from members who have blocked its author.
    if (others.length === 1) await requireNotBlocked(transaction, userId, others[0]!);
    if (!caller.admin) {
      await requireFewReplies(app, transaction, userId);
      await requireNoSpam(app, transaction, { userId, content, threadId });
    }
    const id = await store.addMessage(transaction, { ...messageOf(app, threadId, userId, text), first: 0 });
    transaction.made?.();
    const about = { actorId: userId, resource: 'threads', resourceId: threadId } as const;
    for (const each of others) await notify(app, transaction, { userId: each, kind: 'message', ...about });
    return store.messageIn(transaction.query, threadId, userId, id);
  });
}

/** Members delete their own messages. */
export async function deleteMessage(app: App, { userId }: UserCaller, threadId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    requireThere(await store.lockThread(transaction, threadId));
    await requireIn(transaction, threadId, userId, store.IN_THREAD);
    const isGone = await store.deleteMessage(transaction, { id, threadId, userId, now: app.clock.now() });
    if (!isGone) throw new ApiError('RESOURCE_NOT_FOUND');
  });
}

export async function markRead(app: App, { userId }: UserCaller, threadId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    requireThere(await store.lockThread(transaction, threadId));
    await requireIn(transaction, threadId, userId, store.IN_THREAD);
    await store.markRead(transaction, threadId, userId);
  });
}

/** Allowed for every member. A user who declined or left is not invited again. */
export async function invite(app: App, caller: UserCaller, threadId: number, invitedId: number): Promise<void> {
  const { userId } = caller;
  await app.db.write(async (transaction) => {
    await store.takeTurn(transaction, userId);
    requireThere(await store.lockThread(transaction, threadId));
    await requireIn(transaction, threadId, userId, store.IN_THREAD);
    await requireReachable(transaction, caller, invitedId);
    const known = await store.member(transaction, threadId, invitedId);
    if (known)
      throw new ApiError(known.status === store.GONE ? 'USER_INVITE_NOT_AUTHORISED' : 'USER_PM_ALREADY_IN_THREAD');
    await requireMayInviteMore(app, transaction, userId, threadId);
    await store.addMember(transaction.query, {
      thread_id: threadId,
      user_id: invitedId,
      status: store.INVITED,
      invited_by: userId,
      date_added: app.clock.now(),
      unread: 0,
      last_read_id: 0,
    });
    const about = { actorId: userId, resource: 'threads', resourceId: threadId } as const;
    await notify(app, transaction, { userId: invitedId, kind: 'message_invite', ...about });
  });
}

/** Invited users can read earlier messages once they have joined. */
export async function join(app: App, { userId }: UserCaller, threadId: number): Promise<store.ThreadOfMember> {
  return app.db.write(async (transaction) => {
    requireThere(await store.lockThread(transaction, threadId));
    const { status } = await requireIn(transaction, threadId, userId, store.INVITED, store.IN_THREAD);
    if (status === store.IN_THREAD) throw new ApiError('USER_PM_ALREADY_IN_THREAD');
    await store.setStatus(transaction, threadId, userId, store.IN_THREAD);
    // Earlier messages do not count as unread.
    await store.markRead(transaction, threadId, userId);
    return store.threadOf(transaction.query, userId, store.IN_THREAD, threadId);
  });
}

/**
 * Leaves a thread, or declines an invitation. A thread without members and invitations is deleted with its messages.
 */
export async function leave(app: App, { userId }: UserCaller, threadId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    requireThere(await store.lockThread(transaction, threadId));
    await requireIn(transaction, threadId, userId, store.INVITED, store.IN_THREAD);
    await store.setStatus(transaction, threadId, userId, store.GONE);
    if ((await store.peopleIn(transaction, threadId)) === 0) await store.removeThread(transaction.query, threadId);
  });
}

export async function settingsOf(app: App, { userId }: UserCaller): Promise<AcceptFrom> {
  const stored = await store.acceptFrom(app.db, userId);
  return (Object.keys(ACCEPT_FROM) as AcceptFrom[]).find((name) => ACCEPT_FROM[name] === stored)!;
}

export const changeSettings = (app: App, { userId }: UserCaller, from: AcceptFrom) =>
  app.db.write(async (transaction) => void (await store.putAcceptFrom(transaction, userId, ACCEPT_FROM[from])));
