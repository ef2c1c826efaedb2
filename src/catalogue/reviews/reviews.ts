import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { languageOf } from '../../platform/localisation/languages.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { audit } from '../../records/audit/audit.ts';
import { requireGameAdministrator } from '../games/games.ts';
import type { SensitiveTeamChange } from '../teams/extensions.ts';
import { ADMINISTRATOR } from '../teams/teams.ts';
import * as store from './store.ts';

export const MAIL_REVIEW = 'reviews.mail';
/** The time for the decision, and for the requester to repeat the approved change. */
const OPEN_SECONDS = 7 * 86_400;
const RETENTION_SECONDS = 30 * 86_400;

/** A change that grants or revokes the powers of an administrator over a game. */
export type SensitiveChange =
  | SensitiveTeamChange
  | { readonly kind: 'rotate-key' }
  | { readonly kind: 'stop-reviewing' };

/** Rolls the change back; the review is filed after that, in a transaction of its own. */
class ReviewNeeded extends ApiError {
  readonly change: string;
  constructor(change: string) {
    super('PERMISSION_CHANGE_PENDING_REVIEW');
    this.change = change;
  }
}

/**
 * Runs a change of a game's permissions. In games that require reviews, the first request files one (`14044`); once a
 * second administrator approves it, the same request of the same user succeeds, once.
 */
export async function reviewed<T>(
  app: App,
  caller: UserCaller,
  gameId: number,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await app.db.write(work);
  } catch (error) {
    await fileNeededReview(app, caller, gameId, error);
    throw error;
  }
}

/** Files the review that a rolled-back change needs. */
export async function fileNeededReview(app: App, caller: UserCaller, gameId: number, error: unknown): Promise<void> {
  if (error instanceof ReviewNeeded) await file(app, caller, gameId, error.change);
}

/** Runs in the transaction of the change, after every other check. */
export async function requireReview(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  change: SensitiveChange,
): Promise<void> {
  if (caller.admin || !(await store.isReviewing(transaction, gameId))) return;
  await store.lock(transaction, gameId);
  const { query } = transaction;
  // Nobody could approve it.
  if ((await store.administratorsOf(query, gameId, ADMINISTRATOR)) < 2) return;
  const now = app.clock.now();
  const requested = { gameId, userId: caller.userId, change: JSON.stringify(change) };
  const latest = await store.latestOf(query, requested, now);
  if (latest?.approved !== 1) throw new ReviewNeeded(requested.change);
  await store.use(query, latest.id, now);
}

/** A refusal stands until the review expires, so that a request cannot be repeated until another administrator approves it. */
async function file(app: App, { userId }: UserCaller, gameId: number, change: string): Promise<void> {
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    const now = app.clock.now();
    await store.lock(transaction, gameId);
    if (await store.latestOf(query, { gameId, userId, change }, now)) return;
    const { id } = await store.add(query, {
      game_id: gameId,
      requested_by: userId,
      change,
      approved: null,
      decided_by: null,
      date_added: now,
      date_expires: now + OPEN_SECONDS,
      date_used: null,
    });
    await app.jobs.enqueue(transaction, MAIL_REVIEW, { id });
    await auditReview(app, transaction, userId, gameId, 'request', { review: id, ...JSON.parse(change) });
  });
}

const auditReview = (
  app: App,
  transaction: Transaction,
  actor: number,
  gameId: number,
  done: string,
  { email: _, ...data }: Record<string, unknown>,
) => {
  const subject = { resource: 'games', id: gameId, gameId };
  return audit(app, transaction, { actor, action: `games.review-${done}`, subject, data });
};

export interface Reviews {
  readonly isRequired: boolean;
  readonly open: readonly store.ReviewRow[];
}

export async function reviewsOf(app: App, caller: Caller, gameId: number): Promise<Reviews> {
  await requireGameAdministrator(app.db, caller, gameId);
  const isRequired = await store.isReviewing(app.db, gameId);
  return { isRequired, open: await store.openOf(app.db.query, gameId, app.clock.now()) };
}

/** One administrator can require reviews; ending them takes two. */
export async function setReviewing(app: App, caller: UserCaller, gameId: number, isRequired: boolean): Promise<void> {
  await reviewed(app, caller, gameId, async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    if (isRequired === (await store.isReviewing(transaction, gameId))) return;
    if (isRequired) await store.startReviewing(transaction.query, gameId, app.clock.now());
    else {
      await requireReview(app, transaction, caller, gameId, { kind: 'stop-reviewing' });
      await store.stopReviewing(transaction.query, gameId);
    }
    await auditReview(app, transaction, caller.userId, gameId, isRequired ? 'start' : 'stop', {});
  });
}

export async function decideReview(
  app: App,
  caller: UserCaller,
  { gameId, id, approved }: { gameId: number; id: number; approved: boolean },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    await store.lock(transaction, gameId);
    await requireGameAdministrator(transaction, caller, gameId);
    const review = await store.openById(query, gameId, id, app.clock.now());
    if (!review) throw new ApiError('RESOURCE_NOT_FOUND');
    if (review.requested_by === caller.userId) throw new ApiError('USER_ADMIN_CANT_MODERATE_SELF');
    if (review.approved !== null) throw new ApiError('MODERATION_ALREADY_ACTIONED');
    await store.decide(query, id, { approved: approved ? 1 : 0, decided_by: caller.userId });
    await auditReview(app, transaction, caller.userId, gameId, approved ? 'approve' : 'refuse', { review: id });
  });
}

/** Each mail has an id of its own, so that a retried job sends none twice. */
export async function mailReview(app: App, id: number): Promise<void> {
  for (const recipient of await store.recipientsOf(app.db.query, id, ADMINISTRATOR, app.clock.now())) {
    const language = languageOf(recipient.language) ?? 'en';
    const { game, requester } = recipient;
    const address = `${app.addresses.gameApi(recipient.game_id)}/games/${recipient.game_id}/team/reviews`;
    await app.mail.send({
      id: `review-${id}-${recipient.user_id}`,
      to: recipient.email!,
      subject: localise('permission_review_mail_subject', language),
      text: localise('permission_review_mail_text', language, {
        game,
        requester,
        address,
        days: OPEN_SECONDS / 86_400,
      }),
    });
  }
}

export const removeOldReviews = (app: App): Promise<void> =>
  app.db.write(async ({ query }) => void (await store.removeBefore(query, app.clock.now() - RETENTION_SECONDS)));
