import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

// Other nouns tell here what they do, so this file knows none of them.

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
] as const;
export type NotificationKind = (typeof KINDS)[number];

/** Not at all, on the site alone, there and by mail at once, there and in one mail a day. */
export const MODES = ['off', 'site', 'email', 'digest'] as const;
export type NotificationMode = (typeof MODES)[number];

/** Whose work can no longer be had, or not yet, hears of it by mail unless they want otherwise. */
const MAILED_USUALLY: readonly NotificationKind[] = ['denied', 'taken_down', 'file_denied'];
export const usualMode = (kind: NotificationKind): NotificationMode =>
  MAILED_USUALLY.includes(kind) ? 'email' : 'site';

/** Invitations to teams are mailed to their address as it is, also where it has no account. */
export const modesOf = (kind: NotificationKind): readonly NotificationMode[] =>
  kind === 'team_invite' ? ['off', 'site'] : MODES;

/** They happen again, and are then news again. */
const RECURRING: readonly NotificationKind[] = [
  'message',
  'accepted',
  'denied',
  'taken_down',
  'file_approved',
  'file_denied',
  'report_resolved',
];

export const MAIL_JOB = 'notifications.mail';
export const TELL_SUBSCRIBERS_JOB = 'notifications.tell-subscribers';

export interface Happening {
  /** Who is told. */
  readonly userId: number;
  readonly kind: NotificationKind;
  /** Who did it; 0 where a team decided, or nobody did. */
  readonly actorId: number;
  readonly resource: 'mods' | 'guides' | 'collections' | 'games' | 'users' | 'threads' | 'comments';
  readonly resourceId: number;
  readonly gameId?: number;
  readonly commentId?: number;
}

/** Tells a person in the transaction of what happened. Nobody is told of what they did themselves. */
export async function notify(app: App, transaction: Transaction, what: Happening): Promise<void> {
  if (what.userId === what.actorId) return;
  const now = app.clock.now();
  const row = {
    kind: what.kind,
    actor_id: what.actorId,
    resource: what.resource,
    resource_id: what.resourceId,
    game_id: what.gameId ?? 0,
    comment_id: what.commentId ?? 0,
    date_added: now,
  };
  if (RECURRING.includes(what.kind)) await store.forgetSame(transaction, what.userId, row);
  const added = await store.add(transaction, what.userId, row, usualMode(what.kind));
  if (added && added.date_mail > 0 && added.date_mail <= now) await wakeMail(app, transaction, what.userId);
}

export const wakeMail = (app: App, transaction: Transaction, userId: number): Promise<void> =>
  app.jobs.enqueue(transaction, MAIL_JOB, { userId }, { key: `user/${userId}` });

export interface Judged {
  readonly resource: 'mods' | 'guides' | 'collections' | 'comments';
  readonly id: number;
  readonly gameId: number;
}

type Judgement = 'accepted' | 'denied' | 'taken_down' | 'file_approved' | 'file_denied' | 'report_resolved';

/** Tells someone what was decided over what is theirs. Who of the team did is not told. */
export async function tellDecision(
  app: App,
  transaction: Transaction,
  kind: Judgement,
  { resource, id, gameId }: Pick<Judged, 'id' | 'gameId'> & { readonly resource: string },
  { userId, by }: { readonly userId: number; readonly by: number },
): Promise<void> {
  if (userId === 0 || userId === by) return;
  const about = { resource: resource as Happening['resource'], resourceId: id, gameId };
  await notify(app, transaction, { userId, kind, actorId: 0, ...about });
}

export interface Update {
  readonly modId: number;
  readonly gameId: number;
  readonly actorId: number;
  readonly date: number;
  /** Subscribers up to this one have been told. */
  readonly after: number;
}

/** Lets those who subscribed to a mod be told of its new file, by a job: there may be very many. */
export const tellSubscribers = (app: App, transaction: Transaction, update: Omit<Update, 'date' | 'after'>) =>
  continueTelling(app, transaction, { ...update, date: app.clock.now(), after: 0 });

/** Of two updates of a mod that wait, the later is enough; it is told to everyone. */
export const continueTelling = (app: App, transaction: Transaction, update: Update): Promise<void> =>
  app.jobs.enqueue(transaction, TELL_SUBSCRIBERS_JOB, { ...update }, { key: `mod/${update.modId}` });
