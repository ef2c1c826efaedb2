import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

export const KINDS = [
  'comment',
  'reply',
  'mention',
  'follower',
  'team_invite',
  'message',
  'message_invite',
  'accepted',
  'denied',
  'taken_down',
  'file_approved',
  'file_denied',
  'report_resolved',
  'mod_updated',
  'marketplace_approved',
  'marketplace_declined',
] as const;
export type NotificationKind = (typeof KINDS)[number];

/** `email` and `digest` also show on the site; `digest` is one mail a day. */
const MODES = ['off', 'site', 'email', 'digest'] as const;
export type NotificationMode = (typeof MODES)[number];

/** Authors whose work is unavailable get a mail by default, because they may not visit the site. */
const MAILED_BY_DEFAULT: readonly NotificationKind[] = ['denied', 'taken_down', 'file_denied', 'marketplace_declined'];
export const usualMode = (kind: NotificationKind): NotificationMode =>
  MAILED_BY_DEFAULT.includes(kind) ? 'email' : 'site';

/** Team invitations are mailed to the invited address in any case, whether or not it has an account. */
export const modesOf = (kind: NotificationKind): readonly NotificationMode[] =>
  kind === 'team_invite' ? ['off', 'site'] : MODES;

/** A repetition replaces the earlier notification instead of being dropped as a duplicate. */
const RECURRING: readonly NotificationKind[] = [
  'message',
  'accepted',
  'denied',
  'taken_down',
  'file_approved',
  'file_denied',
  'report_resolved',
  'marketplace_approved',
  'marketplace_declined',
];

export const MAIL_JOB = 'notifications.mail';
export const NOTIFY_SUBSCRIBERS_JOB = 'notifications.tell-subscribers';

export interface NotificationEvent {
  /** The recipient. */
  readonly userId: number;
  readonly kind: NotificationKind;
  /** The acting user; 0 where a team decided, or nobody acted. */
  readonly actorId: number;
  readonly resource: 'mods' | 'guides' | 'collections' | 'games' | 'users' | 'threads' | 'comments';
  readonly resourceId: number;
  readonly gameId?: number;
  readonly commentId?: number;
  /** A mail about it waits that long, because the notification may be withdrawn. */
  readonly mailDelaySeconds?: number;
}

/** Adds a notification in the caller's transaction. Nobody is notified of their own actions. */
export async function notify(app: App, transaction: Transaction, what: NotificationEvent): Promise<void> {
  if (what.userId === what.actorId) return;
  const now = app.clock.now();
  const row = rowOf(what, now);
  if (RECURRING.includes(what.kind)) await store.removeSame(transaction, what.userId, row);
  const added = await store.add(transaction, what.userId, row, usualMode(what.kind));
  if (!added || added.date_mail === 0 || added.date_mail > now) return;
  if (what.mailDelaySeconds) await store.postponeMail(transaction, added.id, now + what.mailDelaySeconds);
  else await wakeMail(app, transaction, what.userId);
}

const rowOf = (what: Omit<NotificationEvent, 'userId'>, now: number): store.NewNotification => ({
  kind: what.kind,
  actor_id: what.actorId,
  resource: what.resource,
  resource_id: what.resourceId,
  game_id: what.gameId ?? 0,
  comment_id: what.commentId ?? 0,
  date_added: now,
});

export const wakeMail = (app: App, transaction: Transaction, userId: number): Promise<void> =>
  app.jobs.enqueue(transaction, MAIL_JOB, { userId }, { key: `user/${userId}` });

export interface DecidedContent {
  readonly resource: 'mods' | 'guides' | 'collections' | 'comments';
  readonly id: number;
  readonly gameId: number;
}

type DecisionKind =
  | 'accepted'
  | 'denied'
  | 'taken_down'
  | 'file_approved'
  | 'file_denied'
  | 'report_resolved'
  | 'marketplace_approved'
  | 'marketplace_declined';

/** Notifies an author of a moderation decision. The moderator stays anonymous. */
export async function notifyDecision(
  app: App,
  transaction: Transaction,
  kind: DecisionKind,
  { resource, id, gameId }: Pick<DecidedContent, 'id' | 'gameId'> & { readonly resource: string },
  { userId, by, ...delay }: { readonly userId: number; readonly by: number; readonly mailDelaySeconds?: number },
): Promise<void> {
  if (userId === 0 || userId === by) return;
  const about = { resource: resource as NotificationEvent['resource'], resourceId: id, gameId };
  await notify(app, transaction, { userId, kind, actorId: 0, ...about, ...delay });
}

/** Removes the notification of a decision that was undone. */
export async function withdrawDecision(
  transaction: Transaction,
  kind: DecisionKind,
  { resource, id, gameId }: Pick<DecidedContent, 'id' | 'gameId'> & { readonly resource: string },
  userId: number,
): Promise<void> {
  const about = { resource: resource as NotificationEvent['resource'], resourceId: id, gameId };
  await store.removeSame(transaction, userId, rowOf({ kind, actorId: 0, ...about }, 0));
}

export interface Update {
  readonly modId: number;
  readonly gameId: number;
  readonly actorId: number;
  readonly date: number;
  /** Subscribers up to this user id have been notified. */
  readonly after: number;
}

/** Notifies the subscribers of a mod of its new file. A job does it in steps, because a mod can have millions of them. */
export const notifySubscribers = (app: App, transaction: Transaction, update: Omit<Update, 'date' | 'after'>) =>
  enqueueNextSubscribers(app, transaction, { ...update, date: app.clock.now(), after: 0 });

/** One queued job per mod: the later update reaches every subscriber, so the earlier one is not needed. */
export const enqueueNextSubscribers = (app: App, transaction: Transaction, update: Update): Promise<void> =>
  app.jobs.enqueue(transaction, NOTIFY_SUBSCRIBERS_JOB, { ...update }, { key: `mod/${update.modId}` });
