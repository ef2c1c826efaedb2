import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { gist, requireFewLinks } from '../comments/spam.ts';
import * as store from './store.ts';

/** The limits per user; decision 50 has the reasons. */
export const REPLIES_PER_MINUTE_MAX = 10;
export const REPLIES_PER_DAY_MAX = 200;
export const THREADS_PER_HOUR_MAX = 10;
export const INVITES_PER_HOUR_MAX = 10;
export const OPEN_INVITES_MAX = 15;
/** Members and invited users of one thread. */
export const PEOPLE_MAX = 20;
/** The number of other threads that may contain the same text within an hour. */
export const SAME_TEXT_MAX = 3;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 24 * HOUR;
const LOOKED_AT_MAX = 200;

export async function requireFewThreads(app: App, transaction: Transaction, userId: number): Promise<void> {
  const begun = await store.writtenSince(transaction, userId, { first: true, since: app.clock.now() - HOUR });
  if (begun >= THREADS_PER_HOUR_MAX) throw new ApiError('PM_RATE_LIMIT_COMPOSE', { retryAfterSeconds: HOUR });
}

export async function requireFewReplies(app: App, transaction: Transaction, userId: number): Promise<void> {
  const repliesIn = (seconds: number) =>
    store.writtenSince(transaction, userId, { first: false, since: app.clock.now() - seconds });
  if ((await repliesIn(DAY)) >= REPLIES_PER_DAY_MAX)
    throw new ApiError('PM_RATE_LIMIT_REPLY_LONG_TIMEFRAME', { retryAfterSeconds: HOUR });
  if ((await repliesIn(MINUTE)) >= REPLIES_PER_MINUTE_MAX)
    throw new ApiError('PM_RATE_LIMIT_REPLY_SHORT_TIMEFRAME', { retryAfterSeconds: MINUTE });
}

/** Checks the thread’s limit first, then the inviter’s. */
export async function requireMayInviteMore(
  app: App,
  transaction: Transaction,
  userId: number,
  threadId: number,
): Promise<void> {
  if ((await store.peopleIn(transaction, threadId)) >= PEOPLE_MAX)
    throw new ApiError('PM_RATE_LIMIT_INVITE_TOTAL', { retryAfterSeconds: HOUR });
  if ((await store.openInvitesBy(transaction, userId)) >= OPEN_INVITES_MAX)
    throw new ApiError('USER_INVITE_LIMIT_REACHED');
  if ((await store.invitesSince(transaction, userId, app.clock.now() - HOUR)) >= INVITES_PER_HOUR_MAX)
    throw new ApiError('PM_RATE_LIMIT_INVITE', { retryAfterSeconds: HOUR });
}

/** Refuses too many links, and the same text in many threads. Repeating a text in one thread is not spam. */
export async function requireNoSpam(
  app: App,
  transaction: Transaction,
  { userId, content, threadId }: { userId: number; content: string; threadId: number },
): Promise<void> {
  requireFewLinks(content);
  const recent = await store.recentOf(transaction, userId, app.clock.now() - HOUR, LOOKED_AT_MAX);
  const elsewhere = recent.filter((other) => other.thread_id !== threadId && gist(other.content) === gist(content));
  if (new Set(elsewhere.map((other) => other.thread_id)).size >= SAME_TEXT_MAX)
    throw new ApiError('USER_CANT_DO_ACTION_SPAM_DETECTED');
}
